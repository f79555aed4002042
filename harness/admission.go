package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/canary"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// settling keeps the writes of a scenario that the API server may not know yet.
type settling struct {
	run *scenarioRun
	// unsettled are the writes that take effect a moment later. canaries counts the canaries that were sent to see when.
	unsettled map[unsettled]bool
	canaries  int
}

// unsettled is something that the scenario has written and that the API server may not know yet: kinds of one
// version, or a namespace.
type unsettled struct {
	family             canary.Family
	version, namespace string
}

// configures reports whether a write changes what admission or authorization depends on, and what. A new namespace is
// known at once.
func configures(step scenarios.Step) (u unsettled, ok bool) {
	for _, gvk := range touchedBy(step) {
		if u.family, ok = canary.FamilyOf(gvk); ok {
			u.version = gvk.Version
			break
		}
	}
	if u.family != canary.Namespace {
		return u, ok
	}
	if step.Changes() {
		u.namespace = step.Target().Name
	}
	return u, u.namespace != ""
}

// await waits, before a step that depends on it, until the API server knows the admission objects, roles and
// namespaces that the scenario has written. It waits once for several such writes in a row. It returns a text for the
// step's evidence.
func (w *settling) await(ctx context.Context, step scenarios.Step) (said string, err error) {
	more, _ := configures(step)
	began := time.Now()
	for _, u := range slices.SortedFunc(maps.Keys(w.unsettled),
		func(a, b unsettled) int { return cmp.Compare(a.String(), b.String()) }) {
		if !u.concerns(step, more.family) {
			continue
		}
		version, err := w.servedVersion(ctx, u)
		if err != nil {
			return "", err
		}
		if version == "" {
			said += fmt.Sprintf("\nbefore it: the API server serves no version of %s, so %s that the scenario wrote "+
				"has no effect; turn its API on (runtimeConfig) and its feature gate", u.family, u)
			continue
		}
		if err := w.seen(ctx, u, version); err != nil {
			return "", err
		}
		said += fmt.Sprintf("\nbefore it: the API server was seen to know %s (after %s)", u,
			time.Since(began).Round(time.Millisecond))
		delete(w.unsettled, u)
	}
	return said, nil
}

// quietly does the same for a step whose evidence does not mention it.
func (w *settling) quietly(ctx context.Context, step scenarios.Step) error {
	_, err := w.await(ctx, step)
	return err
}

// seen waits until every API server knows what is unsettled.
func (w *settling) seen(ctx context.Context, u unsettled, version string) error {
	clients, err := w.run.clients()
	if err != nil {
		return err
	}
	for _, client := range clients {
		w.canaries++
		c := canary.Canary{
			Client: client, Family: u.family, Version: version, Namespace: cmp.Or(u.namespace, w.run.namespace),
			Name: w.run.manager(fmt.Sprintf("canary-%d", w.canaries)),
		}
		if err := c.Await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// servedVersion returns the version in which a canary is written: the version that the scenario wrote or, if a
// transition has removed it, the newest served version. It returns "" if no version is served.
func (w *settling) servedVersion(ctx context.Context, u unsettled) (string, error) {
	_, err := served.Await(ctx, w.run.shared.kinds, u.family.GVK(u.version), time.Hour) // the context ends before
	var none *served.NotServedError
	switch {
	case err == nil:
		return u.version, nil
	case !errors.As(err, &none):
		return "", fmt.Errorf("see whether the API server knows %s: %w", u, err)
	case len(none.Versions) == 0 && !none.Complete:
		return "", fmt.Errorf("see whether the API server knows %s: %w; and the versions that it "+
			"serves could not be read", u, err)
	case len(none.Versions) == 0:
		return "", nil
	}
	return none.Versions[0], nil
}

// concerns reports whether a step depends on u. more is the family that the step itself writes.
func (u unsettled) concerns(step scenarios.Step, more canary.Family) bool {
	switch {
	case u.family.Authorizes():
		return sentAsOther(step)
	case u.family == canary.Namespace:
		return more != canary.Namespace
	default:
		return !more.Admits()
	}
}

// String names what must be known.
func (u unsettled) String() string {
	if u.namespace != "" {
		return "namespace " + u.namespace
	}
	return "each " + string(u.family)
}

// sentAsOther reports whether authorization can affect a step. It cannot affect the scenario's own user, who may do
// everything.
func sentAsOther(step scenarios.Step) bool {
	if step.Parallel != nil {
		return slices.ContainsFunc(step.Parallel.Steps, sentAsOther)
	}
	return step.As != nil || verbOf(&step).asOthers
}

// note records a write that should be accepted and that the API server may know only later.
func (w *settling) note(step scenarios.Step) {
	if u, ok := configures(step); ok && !step.DryRun && !(step.Expect != nil && step.Expect.Rejected != nil) {
		w.unsettled[u] = true
	}
}
