package survey

import (
	"context"
	"regexp"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// outages are the webhooks that do not answer at a state. A write that one of them fails is not retried, because each
// retry would end in the same way: thousands of writes would take hours.
type outages struct {
	mu    sync.Mutex
	known map[string]bool
}

// uncalled matches the API server's words about a webhook that it could not call.
var uncalled = regexp.MustCompile(`failed calling webhook "[^"]*"|conversion webhook for [^:]* failed`)

// persist sends a write until it is accepted or rejected, as writes.Persist does. After a write that a webhook failed
// to the end, it sends each write that the same webhook fails only once.
func (o *outages) persist(ctx context.Context, send func(context.Context) error) (writes.Outcome, error) {
	trying, giveUp := context.WithCancel(ctx)
	defer giveUp()
	outcome, err := writes.Persist(trying, func(ctx context.Context) error {
		err := send(ctx)
		if o.has(err) {
			giveUp()
		}
		return err
	})
	if outcome == writes.Unknown && ctx.Err() == nil {
		o.add(err)
	}
	return outcome, err
}

func (o *outages) has(err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return err != nil && o.known[uncalled.FindString(writes.Words(err))]
}

func (o *outages) add(err error) {
	webhook := uncalled.FindString(writes.Words(err))
	if webhook == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]bool{}
	}
	o.known[webhook] = true
}
