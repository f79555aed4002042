package upgrades

import (
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// What happens to the cluster as a whole is in each shard, and once in the merged report. Checks of what controllers
// create can be in several shards: the worst result counts.
func TestMergeJoinsWhatShardsShare(t *testing.T) {
	shard := func(number int, severity Severity) Part {
		at := time.Unix(1000, 0)
		return Part{From: "a", Result: &Report{
			Head:  reports.Head{Format: Format, Started: at, Finished: at.Add(time.Second)},
			Shard: &reports.Shard{Number: number, Of: 2, Plan: "p"}, Objects: 3, Surveyed: number,
			Path: []*State{{Name: "1.34.4", Reached: true, Transition: float64(number)}},
			Findings: []*Finding{{
				Severity: Unjudged, Check: "control plane", Kind: "cluster", What: "etcd exited", Words: string(severity),
			}},
			Checks: []*Check{{Name: "read", Kind: "Pod", Severity: severity}},
			Notes:  []string{"namespace shop was created"},
		}}
	}
	merged, err := Merge([]Part{shard(2, Breaks), shard(1, Changes)})
	if err != nil {
		t.Fatal(err)
	}
	if len(merged.Findings) != 1 || len(merged.Notes) != 1 || merged.Shard != nil {
		t.Errorf("%d findings, %d notes, shard %v; want one of each, and no shard", len(merged.Findings),
			len(merged.Notes), merged.Shard)
	}
	if len(merged.Checks) != 1 || merged.Checks[0].Severity != Breaks {
		t.Errorf("checks %+v, want one that breaks", merged.Checks)
	}
	if merged.Objects != 3 || merged.Surveyed != 3 || merged.Path[0].Transition != 2 {
		t.Errorf("%d objects, %d surveyed, a transition of %v; want 3, 3 and 2", merged.Objects, merged.Surveyed,
			merged.Path[0].Transition)
	}
}
