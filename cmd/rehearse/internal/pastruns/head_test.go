package pastruns

import (
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// Of several attempts at a shard, the one that ended last counts, in whatever order they are read.
func TestWhichAttemptCounts(t *testing.T) {
	ended := func(second int64) *Head { return &Head{Head: reports.Head{Finished: time.Unix(second, 0)}} }
	interrupted := ended(9)
	interrupted.Interrupted = true
	for name, c := range map[string]struct {
		first, second *Head
		replaced      bool
	}{
		"the first":              {nil, &Head{}, true},
		"ended later":            {ended(1), ended(2), true},
		"ended earlier":          {ended(2), ended(1), false},
		"planned, after its end": {ended(1), &Head{}, false},
		"ended, after its plan":  {&Head{}, ended(1), true},
		"interrupted":            {ended(1), interrupted, false},
		"after an interrupt":     {interrupted, ended(1), true},
		"planned again":          {&Head{}, &Head{}, true},
	} {
		if got := c.second.Replaces(c.first); got != c.replaced {
			t.Errorf("%s: replaced %t, want %t", name, got, c.replaced)
		}
	}
}
