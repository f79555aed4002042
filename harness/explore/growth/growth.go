package growth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Options of a growth.
type Options struct {
	Client *Client
	Kinds  []*fields.Kind
	// Known returns the paths of the fields of a kind that need no object. May be nil.
	Known func(*fields.Kind) map[string]bool
	// Progress is called for each finished kind.
	Progress clusters.Progress
}

// All generates the objects of all kinds. If the context ends, it returns the results up to then, with an error.
func All(ctx context.Context, o Options) ([]*Grown, error) {
	known, err := newTable()
	if err != nil {
		return nil, err
	}
	homes := homesOf(o.Kinds)
	var growers []*grower
	for _, kind := range o.Kinds {
		g := &grower{kind: kind, client: o.Client, table: known, scope: kind.Root}
		g.home = func(f *fields.Field) bool { return slices.Contains(homes[f.Owner], kind.ID()) }
		if o.Known != nil {
			g.known = o.Known(kind)
		}
		growers = append(growers, g)
	}
	first, later := inWaves(growers)
	err = wave(ctx, o, first, nil, nil)
	var memories []*memory
	wholes := map[string][]any{}
	for _, g := range first {
		memories = append(memories, g.memory)
		g.lend(wholes)
	}
	if err == nil {
		err = wave(ctx, o, later, merged(memories...), wholes)
	}
	if err == nil {
		states := statesOf(growers)
		err = wave(ctx, o, states, merged(memories...), wholes)
		growers = append(growers, states...)
	}
	var all []*Grown
	for _, g := range growers {
		if g.holder != nil {
			all = append(all, g.result())
		}
	}
	return all, err
}

// statesOf are the growers of statuses, for kinds whose objects can be stored.
func statesOf(growers []*grower) []*grower {
	var all []*grower
	for _, g := range growers {
		if g.kind.State == nil || g.minimal == nil || !Harmless(g.kind, g.minimal) {
			continue
		}
		all = append(all, &grower{
			kind: g.kind.WithState(), client: g.client, table: g.table, home: g.home, known: g.known, scope: g.kind.State,
			stored: storable(g.kind, g.minimal),
		})
	}
	return all
}

// storable is the object whose status grows. A Service must have a load balancer, and a ResourceClaim a device for each
// request, or their statuses have no fields. A Job must be suspended, because the status of a finished one cannot be
// written.
func storable(kind *fields.Kind, minimal map[string]any) map[string]any {
	object := copied(minimal)
	switch kind.ID() {
	case "Service.v1":
		fields.Set(object, fields.Place{"spec", "type"}, "LoadBalancer")
	case "Job.v1.batch":
		fields.Set(object, fields.Place{"spec", "suspend"}, true)
	case "ResourceClaim.v1.resource.k8s.io", "ResourceClaim.v1beta2.resource.k8s.io":
		object["spec"] = map[string]any{"devices": map[string]any{"requests": []any{
			map[string]any{"name": "a", "exactly": map[string]any{"deviceClassName": "a.example.com"}},
		}}}
		object["status"] = map[string]any{"allocation": map[string]any{"devices": map[string]any{"results": []any{
			map[string]any{"request": "a", "driver": "a.example.com", "pool": "a", "device": "a"},
		}}}}
	}
	return object
}

// inWaves puts the kinds first from which others learn: the fields of a Pod are also those of a Pod template.
func inWaves(growers []*grower) (first, later []*grower) {
	for _, g := range growers {
		if Teacher(g.kind) != "" {
			later = append(later, g)
		} else {
			first = append(first, g)
		}
	}
	return first, later
}

// Teacher is the kind from which another one learns the values of its fields; "" for a kind without a teacher.
func Teacher(kind *fields.Kind) string {
	if kind.Kind == "Pod" {
		return ""
	}
	for _, f := range kind.Root.All() {
		switch {
		case strings.HasSuffix(f.Definition, ".PodSpec"):
			return "Pod"
		case kind.Kind != "PersistentVolume" && strings.HasSuffix(f.Definition, ".PersistentVolumeSpec"):
			return "PersistentVolume"
		}
	}
	return ""
}

// kindsAtOnce is the number of kinds that grow at once. The client limits the number of requests.
const kindsAtOnce = 16

func wave(ctx context.Context, o Options, growers []*grower, below *memory, wholes map[string][]any) error {
	var working errgroup.Group
	working.SetLimit(kindsAtOnce)
	var telling sync.Mutex
	for _, g := range slices.SortedStableFunc(slices.Values(growers), func(a, b *grower) int {
		return len(b.scope.All()) - len(a.scope.All()) // kinds with the most fields first
	}) {
		working.Go(func() error {
			g.memory, g.wholes = &memory{known: map[string][]any{}, below: below}, wholes
			if err := g.grow(ctx); err != nil {
				return err
			}
			r := g.result()
			telling.Lock()
			defer telling.Unlock()
			o.Progress("%s: %d of %d fields, %d objects", g.kind.ID(), len(r.Covered), len(r.Covered)+len(r.Rest),
				len(r.Specimens))
			return nil
		})
	}
	return working.Wait()
}

// homes is the number of kinds in which the boundary values of one field are explored.
const homes = 2

func homesOf(kinds []*fields.Kind) map[string][]string {
	all := map[string][]string{}
	sorted := slices.SortedStableFunc(slices.Values(kinds), func(a, b *fields.Kind) int { return rank(a) - rank(b) })
	for _, kind := range sorted {
		below := kind.Root.All()
		if kind.State != nil {
			below = append(below, kind.State.All()...)
		}
		for _, f := range below {
			if known := all[f.Owner]; len(known) < homes && !slices.Contains(known, kind.ID()) {
				all[f.Owner] = append(known, kind.ID())
			}
		}
	}
	return all
}

// rank orders the kinds for the choice of homes: Pods, most of whose fields cannot be updated, and Deployments, whose
// fields can.
func rank(kind *fields.Kind) int {
	switch kind.Kind {
	case "Pod":
		return 0
	case "Deployment":
		return 1
	}
	return 2
}

// enough is the minimum number of a definition's fields, for its values to be lent to other kinds.
const enough = 12

// lend adds the values of large definitions in whole objects to the values for other kinds.
func (g *grower) lend(wholes map[string][]any) {
	for _, f := range g.scope.All() {
		if f.Type != fields.Object || f.Definition == "" || len(f.All()) < enough {
			continue
		}
		for _, whole := range g.whole {
			if value, there := fields.Get(whole, g.locate(whole, f)); there && len(wholes[f.Definition]) < 8 {
				wholes[f.Definition] = append(wholes[f.Definition], value)
			}
		}
	}
}

// own is the status field itself, if a status grows.
func (g *grower) own() []*fields.Field {
	if g.stored == nil {
		return nil
	}
	return []*fields.Field{g.scope}
}

func (g *grower) result() *Grown {
	r := &Grown{
		Kind: g.kind, State: g.stored != nil, Specimens: g.made, Rejected: g.failed, Panics: g.panics,
		Unjudged: slices.Clone(g.unjudged), Rest: map[string]string{}, Dropped: map[string]bool{},
	}
	for _, path := range slices.Sorted(maps.Keys(g.unknown)) {
		if g.holder[path] == nil { // otherwise, the search for another field has found an object
			r.Unjudged = append(r.Unjudged, fmt.Sprintf("%s: no object with it was judged: %s", path,
				writes.Words(g.unknown[path])))
		}
	}
	for _, f := range append(g.own(), g.scope.All()...) {
		path := f.Path.String()
		switch {
		case f.Name() == fields.Item || f.Name() == fields.Value:
		case g.holder[path] != nil || g.known[path]:
			r.Covered = append(r.Covered, path)
		default:
			r.Rest[path] = g.rejected[path]
			r.Dropped[path] = strings.HasPrefix(g.rejected[path], dropped)
		}
	}
	return r
}

// Fields lists the fields that no object has, sorted.
func (g *Grown) Fields() []string { return slices.Sorted(maps.Keys(g.Rest)) }
