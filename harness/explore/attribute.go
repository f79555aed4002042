package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// attribute finds which objects depend on which gate: their verdicts change if only this gate is flipped.
func (e *exploration) attribute(ctx context.Context) error {
	if len(e.Gates) == 0 {
		return nil
	}
	var disputed []*entry
	for _, one := range e.corpus {
		if one.disputed() {
			disputed = append(disputed, one)
		}
	}
	if len(e.Gates) == 1 {
		table := &explorations.Gate{Name: e.Gates[0].Name}
		for _, one := range disputed {
			one.gates = []string{table.Name}
			tell(table, one, one.verdicts[nameOf(e.Gates[0].On)], one.verdicts[nameOf(e.Gates[0].Off)])
		}
		e.report.Gates = append(e.report.Gates, table)
		return nil
	}
	disputed, alike := representatives(disputed)
	defer func() {
		for one, others := range alike {
			for _, other := range others {
				other.gates = one.gates
			}
		}
	}()
	e.Progress("%d shapes of objects depend on gates; flipping each of %d gates alone", len(disputed), len(e.Gates))
	a := &attribution{disposable: disposable{exploration: e}, disputed: disputed, flipped: map[string][]*verdict{}}
	defer a.remove()
	if err := a.begin(ctx); err != nil {
		return err
	}
	var err error
	if a.usual, err = a.try(ctx, a.Base); err != nil {
		return err
	}
	a.reportPanics(a.usual, a.Base)
	for i, gate := range e.Gates {
		if e.timeUp(fmt.Sprintf("flipping each of the remaining %d gates alone", len(e.Gates)-i)) {
			return context.Cause(ctx)
		}
		if err := a.flip(ctx, gate); err != nil {
			return err
		}
		if done := i + 1; done%10 == 0 {
			e.Progress("%d of %d gates flipped", done, len(e.Gates))
		}
	}
	return nil
}

// attribution finds what each gate alone changes, in a cluster in which all other gates have their defaults.
type attribution struct {
	disposable
	// disputed are the objects to try. usual are the verdicts on them if no gate is flipped.
	disputed []*entry
	usual    []*verdict
	// flipped are the verdicts if a gate is flipped, by the gate's name; all nil if the cluster does not start with it.
	flipped map[string][]*verdict
}

// begin creates the cluster.
func (a *attribution) begin(ctx context.Context) error {
	base := a.Base.With(clusters.Change{RuntimeConfig: map[string]*string{everyAPI: ptr.To("true")}})
	if err := a.replace(ctx, base); err != nil {
		return err
	}
	_, _, err := a.ready(ctx, a.cluster)
	return err
}

// flip records what a gate changes. If kube-apiserver does not start with the flipped gate, the gate is not judged.
func (a *attribution) flip(ctx context.Context, gate Gate) error {
	if err := a.cluster.Converge(ctx, gate.Flipped); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.report.Unjudged = append(a.report.Unjudged, fmt.Sprintf("gate %s: the cluster did not reach %s: %v",
			gate.Name, nameOf(gate.Flipped), err))
		a.flipped[gate.Name] = make([]*verdict, len(a.disputed))
		return a.begin(ctx)
	}
	now, err := a.try(ctx, gate.Flipped)
	if err != nil {
		return err
	}
	a.flipped[gate.Name] = now
	a.reportPanics(now, gate.Flipped)
	a.compare(gate)
	return nil
}

// reportPanics reports the objects that make the API server of a state panic.
func (a *attribution) reportPanics(verdicts []*verdict, state clusters.State) {
	for i, one := range a.disputed {
		if verdicts[i] != nil && verdicts[i].panicked {
			a.panicked(one.Specimen, state)
		}
	}
}

// try gets the verdicts on all objects in the cluster's current state, and reports those that it does not get.
func (a *attribution) try(ctx context.Context, state clusters.State) ([]*verdict, error) {
	client, _, err := a.clientsOf(a.cluster)
	if err != nil {
		return nil, err
	}
	defer func() { a.report.DryRuns += client.Requests() }()
	verdicts, unknown, err := try(ctx, client, a.disputed)
	a.report.Unjudged = append(a.report.Unjudged, unjudged(a.disputed, unknown, nameOf(state))...)
	return verdicts, err
}

// compare records what a gate changes. An effect of another gate that is flipped with it counts for the other gate. If
// there is no verdict with the other gate alone, it counts for none.
func (a *attribution) compare(gate Gate) {
	flipped := a.flipped[gate.Name]
	on, off := flipped, a.usual
	if gate.Default {
		on, off = a.usual, flipped
	}
	table := &explorations.Gate{Name: gate.Name}
	for i, one := range a.disputed {
		if on[i] == nil || off[i] == nil || on[i].same(*off[i]) {
			continue
		}
		if slices.ContainsFunc(gate.Others, func(other string) bool {
			alone := a.flipped[other]
			return alone != nil && (alone[i] == nil || alone[i].same(*flipped[i]))
		}) {
			continue
		}
		one.gates = append(one.gates, gate.Name)
		tell(table, one, *on[i], *off[i])
	}
	if len(table.Fields)+len(table.Accepted)+len(table.Rejected) > 0 {
		a.report.Gates = append(a.report.Gates, table)
	}
}

// podTemplate matches the prefix of a Pod's fields in kinds that create Pods.
var podTemplate = regexp.MustCompile(`\b(?:spec\.jobTemplate\.)?(?:spec\.)?template\.`)

// representatives groups objects that have the same verdicts, for the same reasons, with all gates on and off: they
// depend on the same gates. Values of an enumeration may depend on different gates although they are rejected alike. It
// returns the smallest object of each group, and the groups.
func representatives(disputed []*entry) ([]*entry, map[*entry][]*entry) {
	groups := map[string][]*entry{}
	for _, one := range disputed {
		key := podTemplate.ReplaceAllString(one.opinions(), "")
		if one.Role == growth.Choice {
			key = strings.Join([]string{one.Owner, one.Value, key}, " ")
		}
		groups[key] = append(groups[key], one)
	}
	var all []*entry
	alike := map[*entry][]*entry{}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		group := groups[key]
		first := slices.MinFunc(group, func(a, b *entry) int {
			return cmp.Or(len(a.Body)-len(b.Body), cmp.Compare(a.ID(), b.ID()))
		})
		all, alike[first] = append(all, first), group
	}
	return all, alike
}

// tell adds the effect of a gate on an object to the gate's table.
func tell(table *explorations.Gate, one *entry, on, off verdict) {
	add := func(all *[]string, text string) {
		if !slices.Contains(*all, text) {
			*all = append(*all, text)
		}
	}
	what := strings.TrimSpace(one.Kind.Kind + " " + one.Field + " " + one.Value)
	switch {
	case on.accepted && off.accepted:
		for _, field := range strings.Fields(off.lost) {
			if !slices.Contains(strings.Fields(on.lost), field) {
				add(&table.Fields, one.Kind.Kind+" "+field)
			}
		}
	case on.accepted:
		add(&table.Accepted, what)
	case off.accepted:
		add(&table.Rejected, what)
	}
}
