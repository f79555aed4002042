package simulator

import (
	"fmt"
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// groups reads one letter per group: r ready and old, u ready and updated, n not ready and updated, anything else not
// ready and old.
func groups(letters string) []progress {
	all := make([]progress, len(letters))
	for i, letter := range letters {
		all[i] = progress{ready: letter == 'r' || letter == 'u', updated: letter == 'u' || letter == 'n'}
	}
	return all
}

func TestNext(t *testing.T) {
	const unbounded = math.MaxInt
	tests := map[string]struct {
		limits  limits
		now     extent
		surging int
		groups  string
		want    extent
	}{
		"nothing to do":                  {limits{4, 0, 1, 0}, extent{4, 0}, 0, "uuuu", extent{4, 0}},
		"begins with one":                {limits{4, 0, 1, 0}, extent{4, 4}, unbounded, "rrrr", extent{4, 3}},
		"waits for the one":              {limits{4, 0, 1, 0}, extent{4, 3}, 0, "rrrn", extent{4, 3}},
		"does not trust an old cache":    {limits{4, 0, 1, 0}, extent{4, 3}, 0, "rrrr", extent{4, 3}},
		"goes on":                        {limits{4, 0, 1, 0}, extent{4, 3}, 0, "rrru", extent{4, 2}},
		"two at once":                    {limits{4, 0, 2, 0}, extent{4, 4}, unbounded, "rrrr", extent{4, 2}},
		"takes what is not ready first":  {limits{4, 0, 1, 0}, extent{4, 4}, unbounded, "rrr.", extent{4, 3}},
		"stops at the partition":         {limits{4, 3, 2, 0}, extent{4, 4}, unbounded, "rrrr", extent{4, 3}},
		"a partition above the replicas": {limits{4, 9, 1, 4}, extent{4, 9}, 0, "rrrr", extent{4, 9}},
		"a raised partition":             {limits{4, 3, 1, 0}, extent{4, 1}, 0, "rruu", extent{4, 3}},
		"surge of 4 for 4 peaks at 7":    {limits{4, 0, 1, 4}, extent{4, 4}, unbounded, "rrrr", extent{7, 3}},
		"surge of 4 for 5 peaks at 9":    {limits{5, 0, 1, 4}, extent{5, 5}, unbounded, "rrrrr", extent{9, 4}},
		"surge lets more go":             {limits{4, 0, 1, 4}, extent{7, 3}, 3, "rrrnuuu", extent{7, 0}},
		"surge goes with its need":       {limits{4, 0, 1, 4}, extent{7, 0}, 3, "...uuuu", extent{6, 0}},
		"surge ends":                     {limits{4, 0, 1, 4}, extent{5, 0}, 1, "uuuuu", extent{4, 0}},
		"surge does not come back":       {limits{4, 0, 1, 4}, extent{4, 0}, 0, "u..u", extent{4, 0}},
		"no surge beside full reserve":   {limits{2, 0, 2, 2}, extent{2, 2}, unbounded, "rr", extent{2, 0}},
		"only surge":                     {limits{2, 0, 0, 1}, extent{2, 2}, unbounded, "rr", extent{3, 2}},
		"only surge goes on":             {limits{2, 0, 0, 1}, extent{3, 2}, 1, "rru", extent{3, 1}},
		"scaled up in the middle":        {limits{6, 0, 1, 0}, extent{4, 3}, 0, "rrru", extent{6, 3}},
		"scaled down in the middle":      {limits{2, 0, 1, 0}, extent{4, 3}, 0, "rrru", extent{2, 1}},
		"scaled to nothing":              {limits{0, 0, 1, 2}, extent{4, 4}, unbounded, "rrrr", extent{0, 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := next(test.limits, test.now, test.surging, groups(test.groups)); got != test.want {
				t.Errorf("next(%+v, %+v, %d, %q) = %+v, want %+v", test.limits, test.now, test.surging, test.groups, got, test.want)
			}
		})
	}
}

// Every rollout ends, respects its limits meanwhile, and does not change groups below the partition.
func TestRolloutKeepsToItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := limits{
			replicas:    rapid.IntRange(0, 8).Draw(t, "replicas"),
			partition:   rapid.IntRange(0, 9).Draw(t, "partition"),
			unavailable: rapid.IntRange(0, 4).Draw(t, "unavailable"),
			surge:       rapid.IntRange(0, 4).Draw(t, "surge"),
		}
		if l.unavailable+l.surge == 0 {
			l.unavailable = 1
		}
		all := make([]progress, l.replicas)
		for i := range all {
			all[i].ready = true
		}
		now, surging := begin(extent{replicas: l.replicas, partition: l.partition}), math.MaxInt
		for step := 0; ; step++ {
			if step > 200 {
				t.Fatalf("no end: %+v at %+v with %+v", l, now, all)
			}
			now = next(l, now, surging, all)
			surging = now.replicas - l.replicas
			if surging > l.surge {
				t.Fatalf("%d groups beyond the %d replicas, at most %d", surging, l.replicas, l.surge)
			}
			all = follow(t, all, now)
			ready := 0
			for _, g := range all {
				if g.ready {
					ready++
				}
			}
			if ready < l.replicas-l.unavailable {
				t.Fatalf("%d groups ready of %d replicas, %d may be missing: %+v", ready, l.replicas, l.unavailable, all)
			}
			if settled(all) && now == (extent{replicas: l.replicas, partition: l.partition}) {
				break
			}
		}
		for i, g := range all {
			if g.updated != (i >= l.partition) {
				t.Fatalf("group %d of %+v: updated is %t", i, l, g.updated)
			}
		}
	})
}

// follow simulates how the StatefulSet controller and the kubelets react to an extent: every old group from the
// partition on is replaced, and some unready groups become ready.
func follow(t *rapid.T, before []progress, e extent) []progress {
	after := make([]progress, e.replicas)
	copy(after, before)
	for i := range after {
		switch {
		case i >= e.partition && !after[i].updated:
			after[i] = progress{updated: true}
		case !after[i].ready:
			after[i].ready = rapid.Bool().Draw(t, fmt.Sprintf("group %d becomes ready", i))
		}
	}
	return after
}

func settled(all []progress) bool {
	for _, g := range all {
		if !g.ready {
			return false
		}
	}
	return true
}

func TestResolve(t *testing.T) {
	number, percent := intstr.FromInt32, intstr.FromString
	partition := int32(2)
	tests := map[string]struct {
		config *api.RollingUpdateConfiguration
		want   limits
	}{
		"nothing given": {nil, limits{10, 0, 1, 0}},
		"numbers": {&api.RollingUpdateConfiguration{
			Partition: &partition, MaxUnavailable: number(3),
			MaxSurge: number(4),
		}, limits{10, 2, 3, 4}},
		"percentages": {
			&api.RollingUpdateConfiguration{MaxUnavailable: percent("25%"), MaxSurge: percent("25%")},
			limits{10, 0, 2, 3},
		},
		"too few to round": {
			&api.RollingUpdateConfiguration{MaxUnavailable: percent("5%"), MaxSurge: number(0)},
			limits{10, 0, 1, 0},
		},
		"surge alone": {
			&api.RollingUpdateConfiguration{MaxUnavailable: number(0), MaxSurge: number(1)},
			limits{10, 0, 0, 1},
		},
		"everything at once": {
			&api.RollingUpdateConfiguration{MaxUnavailable: percent("100%"), MaxSurge: number(0)},
			limits{10, 0, 10, 0},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			replicas := int32(10)
			set := &api.LeaderWorkerSet{Spec: api.LeaderWorkerSetSpec{
				Replicas:        &replicas,
				RolloutStrategy: api.RolloutStrategy{RollingUpdateConfiguration: test.config},
			}}
			if got := resolve(set); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
