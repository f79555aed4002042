package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/canary"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// unsettled are the families of admission that the scenario has written and that the API server may not know yet, each with the version of its API.
type unsettled map[canary.Family]string

// configures says which admission a write configures.
func configures(step scenarios.Step) (family canary.Family, version string, ok bool) {
	for _, gvk := range touchedBy(step) {
		if family, ok := canary.FamilyOf(gvk); ok {
			return family, gvk.Version, true
		}
	}
	return "", "", false
}

// settle waits, before a step that admission has a say in, until the API server knows what the scenario has written of it. Several writes of
// admission in a row are waited for once. It returns what there is to say of it.
func (s *scenarioRun) settle(ctx context.Context, step scenarios.Step) (said string, err error) {
	if _, _, more := configures(step); more || len(s.unsettled) == 0 {
		return "", nil
	}
	began := time.Now()
	for _, family := range slices.Sorted(maps.Keys(s.unsettled)) {
		s.canaries++
		c := canary.Canary{
			Client: s.client, Family: family, Version: s.unsettled[family], Namespace: s.namespace,
			Name: s.manager(fmt.Sprintf("canary-%d", s.canaries)),
		}
		if err := c.Await(ctx); err != nil {
			return "", err
		}
		said += fmt.Sprintf("\nbefore it: the API server was seen to know each %s (after %s)", family, time.Since(began).Round(time.Millisecond))
		delete(s.unsettled, family)
	}
	return said, nil
}

// unsettle notes that a write, of which the API server will know later, was accepted.
func (s *scenarioRun) unsettle(step scenarios.Step) {
	if family, version, ok := configures(step); ok && !step.DryRun && !(step.Expect != nil && step.Expect.Rejected != nil) {
		s.unsettled[family] = version
	}
}
