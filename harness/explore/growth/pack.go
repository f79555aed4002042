package growth

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// pack combines objects with few fields into objects with as many fields as possible.
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
		g.whole = append(g.whole, p.whole)
		all = p.left
	}
	return nil
}

// packing is one object that grows as large as possible.
type packing struct {
	*grower
	whole map[string]any
	taken int
	left  []map[string]any
}

// mostAhead limits the number of objects that a packing tries at once.
const mostAhead = 8

// addition adds the fields of some objects to the whole object.
type addition struct {
	objects []map[string]any
	// whole is the result.
	whole    map[string]any
	accepted bool
}

// add adds the fields of all objects at once. If that is rejected, it tries each half. Most additions are rejected, and
// a rejection changes nothing. So it also tries those that would follow, at the same time. After the first accepted
// one, it discards the others.
func (p *packing) add(ctx context.Context, all []map[string]any) error {
	for todo := [][]map[string]any{all}; len(todo) > 0; {
		additions := p.next(todo, min(mostAhead, 1+p.client.free()))
		if err := p.try(ctx, additions); err != nil {
			return err
		}
		for _, a := range additions {
			todo = todo[:len(todo)-1]
			if a.accepted {
				p.whole, p.taken = a.whole, p.taken+len(a.objects)
				break
			}
			if len(a.objects) == 1 {
				p.left = append(p.left, a.objects[0])
			}
			todo = append(todo, halves(a.objects)...)
		}
	}
	return nil
}

// next are the additions to try if each is rejected.
func (p *packing) next(todo [][]map[string]any, most int) []*addition {
	todo = slices.Clone(todo)
	var additions []*addition
	for len(todo) > 0 && len(additions) < most {
		objects := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], halves(objects)...)
		additions = append(additions, &addition{objects: objects})
	}
	return additions
}

// halves of some objects, the first half last; none of a single object.
func halves(objects []map[string]any) [][]map[string]any {
	if len(objects) < 2 {
		return nil
	}
	middle := len(objects) / 2
	return [][]map[string]any{objects[middle:], objects[:middle]}
}

// try sends all additions at once. Those whose fields do not fit together are not accepted.
func (p *packing) try(ctx context.Context, additions []*addition) error {
	var working errgroup.Group
	for _, a := range additions {
		working.Go(func() error {
			object, fits := copied(p.whole), true
			for _, one := range a.objects {
				fits = fits && overlay(object, one)
			}
			if !fits {
				return nil
			}
			answer, err := p.send(ctx, object)
			if ctx.Err() != nil {
				return err
			}
			a.whole, a.accepted = object, err == nil && answer.Accepted()
			return nil
		})
	}
	return working.Wait()
}
