package systems

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// calls decides how the webhooks of systems answer the API server.
type calls struct {
	webhooks  *webhooks.Client
	installer *installer
	progress  clusters.Progress
	now       func() time.Time
}

func callsOf(definition clusters.System) clusters.WebhookCalls {
	if definition.WebhookCalls == nil {
		return clusters.WebhookCalls{}
	}
	return *definition.WebhookCalls
}

// answer changes how calls of a system's webhooks are answered, according to the system's definition. It reports
// whether they are answered as usual again, so that they can be proven.
func (c *calls) answer(ctx context.Context, sys *system) (provable bool, err error) {
	wanted, at, changed := callsOf(sys.definition), sys.place, false
	switch {
	case at.Service != nil:
		if !wanted.Usual() {
			if err := c.registered(ctx, sys); err != nil {
				return false, err
			}
		}
		changed, err = at.Service.Answer(sys.definition.Name, wanted, c.now())
		wanted = at.Service.Calls()
	case at.Front == nil && wanted.Usual():
	default:
		if at.Front == nil {
			err = c.standInFront(ctx, sys)
		} else if !wanted.Usual() {
			err = c.redirect(ctx, sys) // a program that was restarted may have registered itself again
		}
		if err != nil {
			return false, err
		}
		changed, err = at.Front.Answer(wanted, at, c.now())
	}
	if changed {
		c.progress("system %s: %s", sys.definition.Name, cmp.Or(wanted.String(), "webhooks as usual"))
	}
	return changed && err == nil && wanted.Usual(), err
}

// settle makes calls of a system's webhooks answered as its definition says. If they are answered as usual again, it
// proves them.
func (c *calls) settle(ctx context.Context, sys *system) error {
	provable, err := c.answer(ctx, sys)
	if err != nil || !provable {
		return err
	}
	return c.installer.serves(ctx, sys)
}

// settleServices makes each service answer calls as its remaining replicas want it. A replica that left may have wanted
// something else.
func (c *calls) settleServices(ctx context.Context, all []*system) error {
	for _, sys := range all {
		if sys.place == nil || sys.place.Service == nil {
			continue
		}
		if err := c.settle(ctx, sys); err != nil {
			return fmt.Errorf("system %s: %w", sys.definition, err)
		}
	}
	return nil
}

// standInFront starts a front for a running program. It returns when the API server calls the front.
func (c *calls) standInFront(ctx context.Context, sys *system) error {
	if err := sys.place.PutFront(c.now()); err != nil {
		return err
	}
	f := sys.place.Front
	if err := c.redirect(ctx, sys); err != nil {
		return err
	}
	hooks, err := c.webhooks.At(ctx, f.URL())
	if err != nil {
		return err
	}
	if len(hooks) == 0 && !c.webhooks.Converts(ctx, f.URL()) {
		return errors.New("webhookCalls: the API server calls no webhook of this system's process")
	}
	if first := slices.IndexFunc(hooks, func(h webhooks.Hook) bool { return h.Creates }); sys.unready && first >= 0 {
		hooks = hooks[first : first+1] // if it does not answer, the API server may not call the next ones
	}
	return c.installer.Prove(ctx, sys.process, sys.program.probes, hooks,
		func(context.Context) (map[webhooks.AnswerKey]float64, error) { return passed(f, hooks), nil })
}

// passed returns how often each webhook was called through a front.
func passed(f *places.Front, hooks []webhooks.Hook) map[webhooks.AnswerKey]float64 {
	counts := map[webhooks.AnswerKey]float64{}
	for _, h := range hooks {
		if at, err := url.Parse(*h.Client.URL); err == nil {
			counts[h.Key()] = f.Passed(at.Path)
		}
	}
	return counts
}

// redirect redirects calls from a system's program to its front.
func (c *calls) redirect(ctx context.Context, sys *system) error {
	ca, err := sys.place.Authority()
	if err != nil {
		return err
	}
	return c.webhooks.Redirect(ctx, sys.place.URL(), sys.place.Front.URL(), ca)
}

// sameCalls returns an error if replicas of one service want calls to be answered in different ways.
func sameCalls(list []clusters.System) error {
	wanted := map[string]clusters.System{}
	for _, system := range list {
		p := system.Launched()
		if p == nil || p.Service == "" || system.WebhookCalls.Usual() {
			continue
		}
		if other, known := wanted[p.Service]; known && *other.WebhookCalls != *system.WebhookCalls {
			return fmt.Errorf("the systems %s and %s are replicas of one service, and want different webhookCalls",
				other.Name, system.Name)
		}
		wanted[p.Service] = system
	}
	return nil
}

// registered waits until the program has registered a webhook at its service.
func (c *calls) registered(ctx context.Context, sys *system) error {
	ctx, cancel := context.WithTimeout(ctx, registrationTimeout)
	defer cancel()
	address := sys.place.Service.URL()
	return waiting.Until(ctx, sys.process, func(ctx context.Context) error {
		hooks, err := c.webhooks.At(ctx, address)
		if err == nil && len(hooks) == 0 && !c.webhooks.Converts(ctx, address) {
			err = errors.New("webhookCalls: the API server calls no webhook at the service of this system")
		}
		return err
	})
}

// registrationTimeout is how long a program that is ready may take to register its webhooks.
const registrationTimeout = 30 * time.Second

// replicas reports whether two systems have the same service.
func replicas(one, other *system) bool {
	return one != nil && other != nil && one.place != nil && other.place != nil && one.place.Service != nil &&
		one.place.Service == other.place.Service
}
