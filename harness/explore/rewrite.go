package explore

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/growth"
)

// rewriteAll lets the current state write those objects that each state writes: as it reads them, so that what it
// stores is all that it knows of them. Nothing of that is blamed on the next transition.
func (c *crossing) rewriteAll(ctx context.Context) error {
	var working errgroup.Group
	working.SetLimit(triedAtOnce)
	wrote := false
	for n := range c.made {
		one := c.entries[n]
		if !one.written {
			continue
		}
		wrote = true
		working.Go(func() error {
			object, _ := growth.Named(one.Kind, one.Object(), n)
			metadata, _ := object["metadata"].(map[string]any)
			name, _ := metadata["name"].(string)
			// One that is refused, or gone, is a finding of the survey already.
			_ = c.client.Rewrite(ctx, one.Kind, growth.Namespace(one.Kind), name)
			return nil
		})
	}
	_ = working.Wait() // none of them fails
	if !wrote {
		return context.Cause(ctx)
	}
	if err := c.survey.Still(ctx); err != nil {
		return err
	}
	var err error
	c.mark, err = c.survey.Begin(ctx)
	return err
}
