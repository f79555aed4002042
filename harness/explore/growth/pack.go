package growth

import "context"

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

// add adds the fields of all objects at once. If that is rejected, it tries each half.
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
