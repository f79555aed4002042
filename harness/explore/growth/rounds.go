package growth

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// rounds are how a grower finds an object for each field.
type rounds struct{ *grower }

// outcome of the search for an object that has a field.
type outcome struct {
	field    *fields.Field
	accepted map[string]any
	// words of the refusal, and whether the API server drops the field.
	words string
	gone  bool
}

// all finds an object for each field, in rounds. All searches of a round run at once, and know what the rounds
// before found out but nothing of each other: so the same comes of it each time, however fast the answers are.
func (g rounds) all(ctx context.Context) error {
	pending := g.scope.All()
	for len(pending) > 0 {
		var now []*fields.Field
		now, pending = g.round(pending)
		found := make([]*outcome, len(now))
		var working errgroup.Group
		for i, f := range now {
			working.Go(func() (err error) {
				found[i], err = g.field(ctx, f)
				return err
			})
		}
		err := working.Wait()
		for _, o := range found {
			if o != nil {
				g.settle(o)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// round takes those fields that are searched for at once: their parents are settled, so that it is known whether they
// can be had, and no two have the same owner, so that the second learns from the first. Fields that need no search are
// in neither list.
func (g rounds) round(pending []*fields.Field) (now, later []*fields.Field) {
	open, owners := map[*fields.Field]bool{}, map[string]bool{}
	for _, f := range pending {
		switch {
		case open[f.Parent]:
			open[f] = true
			later = append(later, f)
		case !g.lacks(f):
		case g.withoutParent(f):
		case owners[f.Owner]:
			open[f] = true
			later = append(later, f)
		default:
			open[f], owners[f.Owner] = true, true
			now = append(now, f)
		}
	}
	return now, later
}

// withoutParent notes that the API server drops a field with one above it.
func (g rounds) withoutParent(f *fields.Field) bool {
	for p := f.Parent; p != nil; p = p.Parent {
		if g.gone[p.Path.String()] {
			g.refused[f.Path.String()] = dropped + " with " + p.Path.String()
			return true
		}
	}
	return false
}

// field looks for an object that has the field, and changes nothing of the grower.
func (g rounds) field(ctx context.Context, f *fields.Field) (*outcome, error) {
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
		return &outcome{field: f, words: "no object could be made that has it"}, nil
	}
	accepted, a, err := g.accept(ctx, object, place, budget)
	if err != nil {
		return nil, err
	}
	return &outcome{
		field: f, accepted: accepted, words: a.words, gone: a.lost && strings.HasPrefix(a.words, dropped),
	}, nil
}

// settle takes in what came of a search, unless an object of the same round has the field already.
func (g rounds) settle(o *outcome) {
	path := o.field.Path.String()
	switch {
	case g.holder[path] != nil:
	case o.accepted == nil:
		g.refused[path], g.gone[path] = o.words, o.gone
	default:
		g.took(Alone, o.field, o.accepted)
		g.alone = append(g.alone, o.accepted)
	}
}
