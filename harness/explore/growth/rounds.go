package growth

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// rounds finds an accepted object for each field of a grower.
type rounds struct{ *grower }

// outcome is the result of the search for an object with a field.
type outcome struct {
	field    *fields.Field
	accepted map[string]any
	// words of the rejection; gone says that the API server drops the field.
	words string
	gone  bool
	// unknown is why there was no verdict on any of the objects; nil if there was one.
	unknown error
}

// all finds an object for each field, in rounds. All searches of a round run at once. They use the results of earlier
// rounds, but not of each other. So the result is the same each time, however fast the answers are.
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

// round chooses the fields that are searched for at once. Their parents are settled, and no two have the same owner, so
// that the second can learn from the first. Fields that need no search are in neither list.
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

// withoutParent reports whether the API server drops a field above this one. It records that this one is dropped with
// it.
func (g rounds) withoutParent(f *fields.Field) bool {
	for p := f.Parent; p != nil; p = p.Parent {
		if g.gone[p.Path.String()] {
			g.rejected[f.Path.String()] = dropped + " with " + p.Path.String()
			return true
		}
	}
	return false
}

// field searches for an object with the field. It does not change the grower.
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
		return &outcome{field: f, words: "no object with this field could be generated"}, nil
	}
	accepted, a, err := g.accept(ctx, object, place, budget)
	if err != nil {
		return nil, err
	}
	return &outcome{
		field: f, accepted: accepted, words: a.words, gone: a.lost && strings.HasPrefix(a.words, dropped),
		unknown: a.undecided(),
	}, nil
}

// settle records the outcome of a search, unless another object of the same round already has the field.
func (g rounds) settle(o *outcome) {
	path := o.field.Path.String()
	switch {
	case g.holder[path] != nil:
	case o.accepted == nil:
		g.rejected[path], g.gone[path] = o.words, o.gone
		if o.unknown != nil {
			g.unknown[path] = o.unknown
		}
	default:
		g.took(Alone, o.field, o.accepted)
		g.alone = append(g.alone, o.accepted)
	}
}
