package harness_test

import (
	"fmt"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
)

// sized is a provider whose clusters need one gigabyte, and one more for each state of their path.
type sized struct {
	provider
	only bool
}

func (s *sized) Footprint(path []clusters.State) clusters.Footprint {
	return clusters.Footprint{Memory: int64(1+len(path)) << 30, Only: s.only}
}

func TestAtOnce(t *testing.T) {
	text := ""
	for i := range 4 {
		text += scenario(fmt.Sprintf("s%d", i), makeMap("a"), "exclusive: true")
	}
	longer := text + scenario("longer", makeMap("a")+transition("1.35")+transition("1.34"))
	for name, c := range map[string]struct {
		text     string
		provider clusters.Provider
		room     planning.Room
		want     int
		spare    int
	}{
		"a cluster for each core":        {text, &sized{}, planning.Room{Cores: 2, Memory: 100 << 30}, 2, 2},
		"no more than there are":         {text, &sized{}, planning.Room{Cores: 64, Memory: 100 << 30}, 4, 0},
		"as many as fit into the memory": {text, &sized{}, planning.Room{Cores: 2, Memory: 8 << 30}, 2, 1},
		"the largest must fit":           {longer, &sized{}, planning.Room{Cores: 64, Memory: 11 << 30}, 2, 0},
		"one in any case":                {text, &sized{}, planning.Room{Cores: 2}, 1, 0},
		"there is only one":              {text, &sized{only: true}, planning.Room{Cores: 64, Memory: 100 << 30}, 1, 0},
		"nobody knows what they take":    {text, &provider{}, planning.Room{Cores: 64, Memory: 100 << 30}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planned(t, c.provider, c.text, harness.PlanOptions{})
			if got, spare := plan.AtOnce(c.room), plan.Spare(c.room); got != c.want || spare != c.spare {
				t.Errorf("got %d and %d more, want %d and %d", got, spare, c.want, c.spare)
			}
		})
	}
}
