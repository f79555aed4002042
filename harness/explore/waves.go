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
	// begun is how many of the objects are in the clusters so far. lacking is how many of them were rejected.
	begun, lacking int
	// unknown is why there was no verdict on the creation of an object, by its index.
	unknown []error
}

// run takes the objects along the path, and takes what was seen.
func (w *waves) run(ctx context.Context) error {
	defer w.finish()
	w.unknown = make([]error, len(w.chosen))
	for i, part := range parts(w.chosen, cmp.Or(w.Together, mostTogether)) {
		left := len(w.chosen) - w.begun
		if i > 0 && w.timeUp(fmt.Sprintf("%d of %d objects did not cross", left, len(w.chosen))) {
			break
		}
		c := newCrossing(w.exploration, w.Path, part)
		err := c.run(ctx, w.Settle)
		w.add(c)
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds the results of a cluster.
func (w *waves) add(c *crossing) {
	w.seen = append(w.seen, c.sightings()...)
	w.report.AddCrossing(c.report.Path, c.report.Matrix, len(c.made))
	for n, unknown := range c.failed {
		if unknown == nil {
			w.lacking++
		}
		w.unknown[w.begun+n] = unknown
	}
	w.begun += len(c.entries)
}

// finish reports what was seen, and which objects did not cross.
func (w *waves) finish() {
	w.take(w.seen)
	w.report.Unjudged = append(w.report.Unjudged, unjudged(w.chosen, w.unknown, "creation")...)
	if w.lacking > 0 {
		w.report.Untried = append(w.report.Untried, fmt.Sprintf(
			"%d of %d objects did not cross, because they could not be created beside the others", w.lacking, len(w.chosen)))
	}
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
