package explore

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/growth"
)

// rewriteAll lets the current state write the twins as it reads them, so that it stores only the fields that it knows.
// The survey ignores these writes: its mark is set after them.
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
			// If it is rejected, or the object is gone, the survey has a finding already.
			_ = c.client.Rewrite(ctx, one.Kind, growth.Namespace(one.Kind), name)
			return nil
		})
	}
	_ = working.Wait() // the functions return no errors
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
