package explore

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// rewriteAll lets the current state write the twins as it reads them, so that it stores only the fields that it knows.
// The survey ignores these writes: its mark is set after them.
func (c *crossing) rewriteAll(ctx context.Context, i int) error {
	var working errgroup.Group
	working.SetLimit(triedAtOnce)
	failures := make([]error, len(c.entries))
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
			failures[n] = c.client.Rewrite(ctx, one.Kind, growth.Namespace(one.Kind), name)
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
	c.unwritten(i, failures)
	var err error
	c.mark, err = c.survey.Begin(ctx)
	return err
}

// unwritten reports the twins that a state may not have written. What the next states show of them is no proof of what
// a write does.
func (c *crossing) unwritten(i int, failures []error) {
	for n, err := range failures {
		if err == nil {
			continue
		}
		c.report.Findings = append(c.report.Findings, &upgrades.Finding{
			Severity: upgrades.Unjudged, Check: string(survey.Update), Kind: c.entries[n].Kind.Kind, State: i, States: []int{i},
			Hop: c.report.Hop(i), What: "an object was not written unchanged", Words: err.Error(),
		})
	}
}
