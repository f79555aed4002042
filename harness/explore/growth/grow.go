package growth

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// How many dry runs are spent on an object of a kind, on a field, and on what is less likely to come to something.
const (
	forKind   = 80
	forField  = 30
	forWhole  = 25
	forOrphan = 6
	forChoice = 8
)

// Grown is what came of one kind.
type Grown struct {
	Kind *fields.Kind
	// State says that it is the status that grew.
	State bool
	// Specimens that were accepted, and borders that were refused.
	Specimens []*Specimen
	Refused   []*Specimen
	// Covered are the fields that at least one accepted object has; Rest are the others, with the words of the last
	// refusal.
	Covered []string
	Rest    map[string]string
	// Dropped are those of the rest that the API server drops: their gates are off, or they are its own.
	Dropped map[string]bool
	// Panics are objects that were too much for the API server, as JSON.
	Panics []string
}

// grower grows the objects of one kind.
type grower struct {
	kind   *fields.Kind
	client *Client
	table  table
	memory *memory
	// wholes are values of definitions that other kinds accepted.
	wholes map[string][]any
	// home says whether a field's borders are explored in this kind.
	home func(*fields.Field) bool
	// known are fields that need no object of their own, since one was made at an earlier state.
	known map[string]bool

	// scope is the field below which objects grow: the root, or the status of a stored object.
	scope  *fields.Field
	stored map[string]any

	minimal map[string]any
	// holder is a small accepted object that has a field; refused are the words for fields that none has.
	holder  map[string]map[string]any
	refused map[string]string
	// gone are fields that the API server drops.
	gone map[string]bool
	made []*Specimen
	// alone are the objects that can be packed into whole ones.
	alone  []map[string]any
	whole  []map[string]any
	failed []*Specimen
	// panics are objects that were too much for the API server.
	panicking sync.Mutex
	panics    []string
}

// grow does all that can be done with one kind. What it found is in the grower also where the error is not nil.
func (g *grower) grow(ctx context.Context) error {
	g.holder, g.refused, g.gone = map[string]map[string]any{}, map[string]string{}, map[string]bool{}
	beginning, err := g.beginning(ctx)
	if err != nil || beginning == nil {
		return err
	}
	minimal, a, err := g.accept(ctx, beginning, nil, forKind)
	if err != nil {
		return err
	}
	if minimal == nil {
		for _, f := range g.scope.All() {
			g.refused[f.Path.String()] = "no object of the kind is accepted: " + a.words
		}
		return nil
	}
	g.minimal = minimal
	if g.stored == nil {
		g.took(Minimal, nil, minimal)
	}
	if err := g.borrow(ctx); err != nil {
		return err
	}
	for _, f := range g.scope.All() {
		if err := g.field(ctx, f); err != nil {
			return err
		}
	}
	if err := g.pack(ctx, g.alone); err != nil {
		return err
	}
	for _, whole := range g.whole {
		g.made = append(g.made, g.specimen(Whole, nil, len(g.made), whole))
	}
	if err := g.choices(ctx); err != nil {
		return err
	}
	return g.borders(ctx)
}

// beginning is what growth begins with: an object of the kind, or a stored one whose status grows; nil where none can
// be stored.
func (g *grower) beginning(ctx context.Context) (map[string]any, error) {
	if g.stored == nil {
		return g.begin(), nil
	}
	object, _ := Named(g.kind, g.stored, forStatus)
	answer, err := g.client.Create(ctx, g.kind, Namespace(g.kind), object, false)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil || !answer.Accepted() && answer.Code != 409 {
		return nil, nil
	}
	g.stored = object
	return copied(object), nil
}

// forStatus is the number of the object whose status grows.
const forStatus = 0

// send asks for the verdict on an object, by a dry run.
func (g *grower) send(ctx context.Context, object map[string]any) (Answer, error) {
	if g.stored == nil {
		return g.client.Create(ctx, g.kind, Namespace(g.kind), object, true)
	}
	metadata, _ := g.stored["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	status := map[string]any{"status": object["status"]}
	return g.client.Patch(ctx, g.kind, Namespace(g.kind), name, "status", status, true)
}

// panicked notes an object that was too much for the API server.
func (g *grower) panicked(object map[string]any) {
	g.panicking.Lock()
	defer g.panicking.Unlock()
	g.panics = append(g.panics, textOf(object))
}

// took takes in an accepted object.
func (g *grower) took(role Role, f *fields.Field, object map[string]any) {
	g.cover(object)
	g.memory.learn(g.kind, object)
	g.made = append(g.made, g.specimen(role, f, nil, object))
}

// borrow tries whole values that other kinds accepted: what a template of pods can have was found out with a Pod.
func (g *grower) borrow(ctx context.Context) error {
	for _, f := range g.scope.All() {
		if f.Type != fields.Object || g.known[f.Path.String()] || !slices.ContainsFunc(f.All(), g.lacks) {
			continue
		}
		for _, value := range g.wholes[f.Definition] {
			object := copied(g.minimal)
			place := g.locate(object, f)
			mine, there := fields.Get(object, place)
			merged := copyOf(value)
			if m, ok := mine.(map[string]any); there && ok {
				base := copied(m)
				prefer(base, merged.(map[string]any))
				merged = base
			}
			if !g.set(object, place, merged) {
				continue
			}
			accepted, _, err := g.accept(ctx, object, place, forWhole)
			if err != nil {
				return err
			}
			if accepted != nil {
				g.cover(accepted)
				g.memory.learn(g.kind, accepted)
				g.made = append(g.made, g.specimen(Whole, f, len(g.made), accepted))
			}
		}
	}
	return nil
}

// lacks says whether no object has a field yet.
func (g *grower) lacks(f *fields.Field) bool {
	path := f.Path.String()
	return g.holder[path] == nil && !g.known[path]
}

// prefer puts into an object what another has, but for what it has already.
func prefer(object, other map[string]any) {
	for key, value := range other {
		mine, there := object[key]
		if !there {
			object[key] = value
			continue
		}
		m, ok1 := mine.(map[string]any)
		o, ok2 := value.(map[string]any)
		if ok1 && ok2 {
			prefer(m, o)
			continue
		}
		l, ok1 := mine.([]any)
		from, ok2 := value.([]any)
		for i := 0; ok1 && ok2 && i < len(l) && i < len(from); i++ {
			a, isA := l[i].(map[string]any)
			b, isB := from[i].(map[string]any)
			if isA && isB {
				prefer(a, b)
			}
		}
	}
}

// field finds an object that has the field.
func (g *grower) field(ctx context.Context, f *fields.Field) error {
	path := f.Path.String()
	if g.known[path] || g.holder[path] != nil {
		return nil
	}
	for p := f.Parent; p != nil; p = p.Parent {
		if g.gone[p.Path.String()] {
			g.refused[path] = dropped + " with " + p.Path.String()
			return nil
		}
	}
	base, budget := g.minimal, forField
	if parent := f.Parent; parent != nil && len(parent.Path) > 0 {
		if g.holder[parent.Path.String()] == nil {
			budget = forOrphan
		}
		for ; parent != nil && len(parent.Path) > 0; parent = parent.Parent {
			if held := g.holder[parent.Path.String()]; held != nil {
				base = held
				break
			}
		}
	}
	object := copied(base)
	place := g.locate(object, f)
	if !g.set(object, place, g.build(f)) {
		g.refused[path] = "no object could be made that has it"
		return nil
	}
	accepted, a, err := g.accept(ctx, object, place, budget)
	if err != nil {
		return err
	}
	if accepted == nil {
		g.refused[path] = a.words
		g.gone[path] = a.lost && strings.HasPrefix(a.words, dropped)
		return nil
	}
	g.took(Alone, f, accepted)
	g.alone = append(g.alone, accepted)
	return nil
}

// pack makes objects that have as many fields as one can, of those that have a few.
func (g *grower) pack(ctx context.Context, all []map[string]any) error {
	const most = 6
	for range most {
		if len(all) < 2 {
			return nil
		}
		p := &packing{grower: g, whole: copied(g.minimal)}
		if err := p.add(ctx, all); err != nil {
			return err
		}
		if p.taken < 2 {
			return nil
		}
		g.cover(p.whole)
		g.whole = append(g.whole, p.whole)
		all = p.left
	}
	return nil
}

// packing is one object that is made as large as it can be.
type packing struct {
	*grower
	whole map[string]any
	taken int
	left  []map[string]any
}

// add takes in all of the objects at once if it can, or else either half.
func (p *packing) add(ctx context.Context, all []map[string]any) error {
	object, fits := copied(p.whole), true
	for _, one := range all {
		fits = fits && overlay(object, one)
	}
	if fits {
		answer, err := p.send(ctx, object)
		if ctx.Err() != nil {
			return err
		}
		if err == nil && answer.Accepted() {
			p.whole, p.taken = object, p.taken+len(all)
			return nil
		}
	}
	if len(all) == 1 {
		p.left = append(p.left, all[0])
		return nil
	}
	if err := p.add(ctx, all[:len(all)/2]); err != nil {
		return err
	}
	return p.add(ctx, all[len(all)/2:])
}
