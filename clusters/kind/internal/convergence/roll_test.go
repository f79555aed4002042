package convergence

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// A round with nothing to change counts as done.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name           string
		upTo, toChange int
		apiFirst       bool
		now            int
	}{
		{"all", 0, 3, false, 3},
		{"the first of three", 1, 3, false, 1},
		{"one is there already", 1, 2, false, 0},
		{"the second of three", 2, 2, false, 1},
		{"more than there are", 3, 2, false, 2},
		{"two API servers of nine components", 2, 9, true, 2},
		{"from there to the first controller manager", 4, 7, true, 2},
	} {
		now, held := hold(make([]round, c.toChange), clusters.Roll{UpTo: c.upTo, APIServersFirst: c.apiFirst}, 3)
		if len(now) != c.now || len(now)+len(held) != c.toChange {
			t.Errorf("%s: %d of %d change now, %d are held; want %d", c.name, len(now), c.toChange, len(held), c.now)
		}
	}
}
