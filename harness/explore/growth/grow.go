package growth

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// The maximum numbers of dry runs: for the minimal object of a kind, for a field, for a value of another kind, for a
// field whose parent no object has, and for a value of an enumeration.
const (
	forKind   = 80
	forField  = 30
	forWhole  = 25
	forOrphan = 6
	forChoice = 8
)

// Grown is the result for one kind.
type Grown struct {
	Kind *fields.Kind
	// State says that this is the result for the kind's status.
	State bool
	// Specimens are accepted objects, Rejected are rejected objects with boundary values.
	Specimens []*Specimen
	Rejected  []*Specimen
	// Covered are the fields that at least one accepted object has. Rest are the others, with the words of a rejection.
	Covered []string
	Rest    map[string]string
	// Dropped are the fields in Rest that the API server drops: their gates are off, or only the API server sets them.
	Dropped map[string]bool
	// Panics are objects that made the API server panic.
	Panics []*Specimen
	// Unjudged says what the API server did not judge, one sentence for each field, or one for the kind.
	Unjudged []string
}

// Name of the kind, or of its status.
func (g *Grown) Name() string {
	if g.State {
		return g.Kind.ID() + " status"
	}
	return g.Kind.ID()
}

// grower grows the objects of one kind.
type grower struct {
	kind   *fields.Kind
	client *Client
	table  table
	memory *memory
	// wholes are values of definitions that other kinds accepted.
	wholes map[string][]any
	// home reports whether a field's boundary values are explored in this kind.
	home func(*fields.Field) bool
	// known are fields that need no further object, because one exists from an earlier state.
	known map[string]bool

	// scope is the field below which objects grow: the root, or the status of a stored object.
	scope  *fields.Field
	stored map[string]any

	minimal map[string]any
	// holder is a small accepted object with a field, by the field's path. rejected are the words of rejections, by the
	// paths of fields that no object has.
	holder   map[string]map[string]any
	rejected map[string]string
	// gone are fields that the API server drops. unknown is why an object with a rejected field was not judged.
	gone    map[string]bool
	unknown map[string]error
	made    []*Specimen
	// alone are objects with one more field than the minimal one. They are packed into whole ones.
	alone  []map[string]any
	whole  []map[string]any
	failed []*Specimen
	// unjudged says what has no verdict.
	unjudged []string
	// panics are objects that made the API server panic.
	panicking sync.Mutex
	panics    []*Specimen
}

// grow generates the objects of one kind. Even if it returns an error, the grower has the results up to then.
func (g *grower) grow(ctx context.Context) error {
	g.holder, g.rejected = map[string]map[string]any{}, map[string]string{}
	g.gone, g.unknown = map[string]bool{}, map[string]error{}
	beginning, err := g.beginning(ctx)
	if err != nil || beginning == nil {
		return err
	}
	minimal, a, err := g.accept(ctx, beginning, nil, forKind)
	if err != nil {
		return err
	}
	if minimal == nil {
		g.noteUnjudged("no object of the kind was judged", a.undecided())
		for _, f := range g.scope.All() {
			g.rejected[f.Path.String()] = "no object of the kind is accepted: " + a.words
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
	if err := (rounds{g}).all(ctx); err != nil {
		return err
	}
	values := trials{g}
	choices, borders := values.choices(), values.borders()
	var working errgroup.Group
	working.Go(func() error { return g.pack(ctx, g.alone) })
	working.Go(func() error { return values.choose(ctx, choices) })
	working.Go(func() error { return values.test(ctx, borders) })
	err = working.Wait()
	for _, whole := range g.whole {
		g.cover(whole)
		g.made = append(g.made, g.specimen(Whole, nil, len(g.made), whole))
	}
	values.take(choices, borders)
	return err
}

// beginning is the initial object: one of the kind, or a stored one whose status grows. It is nil if none can be
// stored.
func (g *grower) beginning(ctx context.Context) (map[string]any, error) {
	if g.stored == nil {
		return g.begin(), nil
	}
	object, _ := Named(g.kind, g.stored, forStatus)
	answer, err := g.client.Create(ctx, g.kind, Namespace(g.kind), Text(object), false)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil || !answer.Accepted() && answer.Code != 409 {
		g.noteUnjudged("its fields were not explored, because it is not known whether an object can be stored", err)
		return nil, nil
	}
	beginning := copied(g.stored) // with the placeholder as its name, because its copies cross under other names
	g.stored = object
	return beginning, nil
}

// noteUnjudged records what was not judged, and why; nothing if there is no reason.
func (g *grower) noteUnjudged(what string, unknown error) {
	if unknown != nil {
		g.unjudged = append(g.unjudged, what+": "+writes.Words(unknown))
	}
}

// forStatus is the number in the name of the object whose status grows.
const forStatus = 0

// send gets the verdict on an object by a dry run.
func (g *grower) send(ctx context.Context, object map[string]any) (Answer, error) {
	return g.sendText(ctx, object, Text(object))
}

// sendText is send for an object that is already encoded as JSON. It records objects that make the API server panic.
func (g *grower) sendText(ctx context.Context, object map[string]any, text []byte) (Answer, error) {
	answer, err := g.dryRun(ctx, object, text)
	if err == nil && answer.Panicked() {
		g.panicked(object)
	}
	return answer, err
}

func (g *grower) dryRun(ctx context.Context, object map[string]any, text []byte) (Answer, error) {
	if g.stored == nil {
		return g.client.Create(ctx, g.kind, Namespace(g.kind), text, true)
	}
	metadata, _ := g.stored["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	status := map[string]any{"status": object["status"]}
	return g.client.Patch(ctx, g.kind, Namespace(g.kind), name, "status", Text(status), true)
}

// panicked records an object that made the API server panic.
func (g *grower) panicked(object map[string]any) {
	g.panicking.Lock()
	defer g.panicking.Unlock()
	g.panics = append(g.panics, g.specimen(Border, nil, "panic", object))
}

// took records an accepted object.
func (g *grower) took(role Role, f *fields.Field, object map[string]any) {
	g.cover(object)
	g.memory.learn(g.kind, object)
	g.made = append(g.made, g.specimen(role, f, nil, object))
}

// borrow tries whole values that other kinds accepted: the fields of a Pod are found once, and tried in Pod templates.
func (g *grower) borrow(ctx context.Context) error {
	for _, f := range g.scope.All() {
		if f.Type != fields.Object || g.known[f.Path.String()] || !slices.ContainsFunc(f.All(), g.lacks) {
			continue
		}
		lent := g.wholes[f.Definition]
		accepted := make([]map[string]any, len(lent))
		var working errgroup.Group
		for i, value := range lent {
			working.Go(func() (err error) {
				accepted[i], err = g.lent(ctx, f, value)
				return err
			})
		}
		err := working.Wait()
		for _, object := range accepted {
			if object != nil {
				g.cover(object)
				g.memory.learn(g.kind, object)
				g.made = append(g.made, g.specimen(Whole, f, len(g.made), object))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lent is an accepted object with a value that another kind accepted; nil if there is none.
func (g *grower) lent(ctx context.Context, f *fields.Field, value any) (map[string]any, error) {
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
		return nil, nil
	}
	accepted, _, err := g.accept(ctx, object, place, forWhole)
	return accepted, err
}

// lacks reports whether no object has a field yet.
func (g *grower) lacks(f *fields.Field) bool {
	path := f.Path.String()
	return g.holder[path] == nil && !g.known[path]
}

// prefer adds the fields of another object that an object lacks.
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
