package explore

import (
	"cmp"
	"context"
	"fmt"
)

// mostTogether is the default of Options.Together.
const mostTogether = 2000

// waves are the clusters that cross the whole path, one after the other, each with an equal part of the chosen objects.
type waves struct {
	*exploration
	chosen []*entry
	seen   []*sighting
	// lacking is how many objects could not be created.
	lacking int
}

// run takes the objects along the path, and takes what was seen.
func (w *waves) run(ctx context.Context) error {
	defer func() { w.take(w.seen) }()
	for i, part := range parts(w.chosen, cmp.Or(w.Together, mostTogether)) {
		left := len(w.chosen) - w.report.Crossed - w.lacking
		if i > 0 && w.timeUp(fmt.Sprintf("%d of %d objects did not cross", left, len(w.chosen))) {
			break
		}
		if err := w.cross(ctx, part); err != nil {
			return err
		}
	}
	if w.lacking > 0 {
		w.report.Untried = append(w.report.Untried, fmt.Sprintf(
			"%d of %d objects did not cross, because they could not be created beside the others", w.lacking, len(w.chosen)))
	}
	return nil
}

func (w *waves) cross(ctx context.Context, part []*entry) error {
	c := newCrossing(w.exploration, w.Path, part)
	err := c.run(ctx, w.Settle)
	w.seen = append(w.seen, c.sightings()...)
	w.report.AddCrossing(c.report.Path, c.report.Matrix, len(c.made))
	w.lacking += len(part) - len(c.made)
	return err
}

// parts divides a list into the fewest parts of at most that many entries; at least one part, and all of about equal
// size.
func parts(all []*entry, most int) [][]*entry {
	n := max(1, (len(all)+most-1)/most)
	divided := make([][]*entry, n)
	for i := range divided {
		divided[i] = all[i*len(all)/n : (i+1)*len(all)/n]
	}
	return divided
}
