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
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// Gate is a feature gate that is explored, with the states in which it alone is on and off.
type Gate struct {
	Name    string
	On, Off clusters.State
	// Flipped is the state in which kube-apiserver alone has the gate as nobody would have it who does not set it: enough
	// to ask for verdicts, and no other component restarts.
	Flipped clusters.State
	// Default is its value where nobody sets it.
	Default bool
}

// everyAPI serves also the APIs that are off by default: gates would have no effect on them.
const everyAPI = "api/all"

// GatesOf are the named gates of a state, or all that can be set and that kube-apiserver knows, where the name is all.
// What a gate needs is on with it, and what needs it is off with it.
func GatesOf(list *features.List, state clusters.State, names []string) ([]Gate, error) {
	all := len(names) == 1 && names[0] == "all"
	if all {
		names = nil
		_, asked := list.Programs[clusters.APIServer] // if not, it may know any of them: the program is not there yet
		for _, d := range list.DescribeAll() {
			_, own := d.Components[clusters.APIServer]
			if (own || !asked) && !d.Spec.Locked && !strings.HasPrefix(d.Gate, "All") {
				names = append(names, d.Gate)
			}
		}
	}
	var gates []Gate
	for _, name := range names {
		d := list.Describe(name)
		switch {
		case !d.Known && features.Nearest(name, list) != "":
			return nil, fmt.Errorf("--gates %s: Kubernetes %s has no such gate; did you mean %s?", name, list.Version,
				features.Nearest(name, list))
		case !d.Known:
			return nil, fmt.Errorf("--gates %s: Kubernetes %s has no such gate", name, list.Version)
		case d.Spec.Locked:
			return nil, fmt.Errorf("--gates %s: it is locked in Kubernetes %s", name, list.Version)
		}
		on, off := append(list.Dependencies(name), name), append(dependents(list, name), name)
		gate := Gate{
			Name: name, Default: d.Spec.Default, On: with(list, state, true, on...), Off: with(list, state, false, off...),
			Flipped: judging(list, state, true, on...),
		}
		if gate.Default {
			gate.Flipped = judging(list, state, false, off...)
		}
		gates = append(gates, gate)
	}
	return gates, nil
}

// dependents are the gates that need a gate, and that can be turned off.
func dependents(list *features.List, name string) []string {
	return list.Dependents(name, func(d features.Description) bool { return !d.Spec.Locked })
}

// with is a state with gates on or off, in which all APIs are served.
func with(list *features.List, state clusters.State, value bool, gates ...string) clusters.State {
	every := "true"
	change := clusters.Change{
		FeatureGates: map[string]*bool{}, RuntimeConfig: map[string]*string{everyAPI: &every},
		Components: map[clusters.Component]*clusters.ComponentChange{},
	}
	for _, gate := range gates {
		knowing := list.Describe(gate).Components
		if len(knowing) == 0 || len(knowing) == len(clusters.ControlPlane()) {
			change.FeatureGates[gate] = &value
			continue
		}
		for component := range knowing { // the others would not start with it
			if change.Components[component] == nil {
				change.Components[component] = &clusters.ComponentChange{FeatureGates: map[string]*bool{}}
			}
			change.Components[component].FeatureGates[gate] = &value
		}
	}
	return state.With(change)
}

// judging is a state with those of some gates on or off that kube-apiserver knows, in it alone.
func judging(list *features.List, state clusters.State, value bool, gates ...string) clusters.State {
	own := &clusters.ComponentChange{FeatureGates: map[string]*bool{}}
	for _, gate := range gates {
		components := list.Describe(gate).Components
		if _, knows := components[clusters.APIServer]; knows || len(components) == 0 {
			own.FeatureGates[gate] = &value
		}
	}
	every := "true"
	return state.With(clusters.Change{
		RuntimeConfig: map[string]*string{everyAPI: &every},
		Components:    map[clusters.Component]*clusters.ComponentChange{clusters.APIServer: own},
	})
}

// PathOf is the path on which gates are explored: on, off, and on, those that they need with them, and those that need
// them.
func PathOf(list *features.List, state clusters.State, gates []Gate) []clusters.State {
	if len(gates) == 1 {
		return []clusters.State{gates[0].On, gates[0].Off, gates[0].On}
	}
	var on, off []string
	for _, gate := range gates {
		on = append(append(on, list.Dependencies(gate.Name)...), gate.Name)
		off = append(append(off, dependents(list, gate.Name)...), gate.Name)
	}
	high, low := with(list, state, true, on...), with(list, state, false, off...)
	return []clusters.State{high, low, high}
}

// attribute finds out which objects depend on which gate: their verdicts change when the gate alone is flipped.
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
	disputed, alike := e.representatives(disputed)
	defer func() {
		for one, others := range alike {
			for _, other := range others {
				other.gates = one.gates
			}
		}
	}()
	e.Progress("%d shapes of objects depend on some gate; flipping each of %d gates alone", len(disputed), len(e.Gates))
	base := e.Base.With(clusters.Change{RuntimeConfig: map[string]*string{everyAPI: ptr.To("true")}})
	cluster, remove, err := e.create(ctx, base)
	if err != nil {
		return err
	}
	defer func() { remove() }()
	if _, _, err := e.ready(ctx, cluster); err != nil {
		return err
	}
	usual, err := e.tryAt(ctx, cluster, disputed)
	if err != nil {
		return err
	}
	for i, gate := range e.Gates {
		if e.late(fmt.Sprintf("which objects depend on %d more gates", len(e.Gates)-i)) {
			return context.Cause(ctx)
		}
		if err := cluster.Converge(ctx, gate.Flipped); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e.report.Unjudged = append(e.report.Unjudged, fmt.Sprintf("gate %s: the cluster does not come to %s: %v",
				gate.Name, nameOf(gate.Flipped), err))
			remove()
			if cluster, remove, err = e.create(ctx, base); err != nil {
				remove = func() {}
				return err
			}
			if _, _, err := e.ready(ctx, cluster); err != nil {
				return err
			}
			continue
		}
		now, err := e.tryAt(ctx, cluster, disputed)
		if err != nil {
			return err
		}
		e.compare(gate, disputed, usual, now)
		if done := i + 1; done%10 == 0 {
			e.Progress("%d of %d gates flipped", done, len(e.Gates))
		}
	}
	return nil
}

// podTemplate is what stands before the fields of a Pod in kinds that make Pods.
var podTemplate = regexp.MustCompile(`\b(?:spec\.jobTemplate\.)?(?:spec\.)?template\.`)

// representatives are the smallest of all objects that were made for one field and of which the states with all gates
// on and off make the same; the others, which depend on the same gates, are those that are alike.
func (e Options) representatives(disputed []*entry) ([]*entry, map[*entry][]*entry) {
	on, off := nameOf(e.Path[0]), nameOf(e.Path[1])
	groups := map[string][]*entry{}
	for _, one := range disputed {
		key := one.ID()
		if one.Owner != "" {
			key = fmt.Sprint(one.Owner, one.verdicts[on], one.verdicts[off])
			key = podTemplate.ReplaceAllString(key, "")
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

// tryAt asks for the verdict on each object in a cluster's state.
func (e *exploration) tryAt(ctx context.Context, cluster clusters.Cluster, all []*entry) ([]*verdict, error) {
	client, _, err := e.clientsOf(cluster)
	if err != nil {
		return nil, err
	}
	defer func() { e.report.DryRuns += client.Requests() }()
	return try(ctx, client, all)
}

// compare notes what a gate changes.
func (e *exploration) compare(gate Gate, all []*entry, usual, flipped []*verdict) {
	on, off := flipped, usual
	if gate.Default {
		on, off = usual, flipped
	}
	table := &explorations.Gate{Name: gate.Name}
	for i, one := range all {
		if on[i] == nil || off[i] == nil || *on[i] == *off[i] {
			continue
		}
		one.gates = append(one.gates, gate.Name)
		tell(table, one, *on[i], *off[i])
	}
	if len(table.Fields)+len(table.Accepted)+len(table.Refused) > 0 {
		e.report.Gates = append(e.report.Gates, table)
	}
}

// tell puts into the table of a gate what it does to an object.
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
		add(&table.Refused, what)
	}
}

// gateOf is the explored gate of that name; nil where there is none.
func (e Options) gateOf(name string) *Gate {
	for i := range e.Gates {
		if e.Gates[i].Name == name {
			return &e.Gates[i]
		}
	}
	return nil
}
