package upgrades

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// What happens to the cluster as a whole is in each shard, and once in the merged report, with all that was seen.
// Checks of what controllers create can be in several shards: the worst result counts.
func TestMergeJoinsWhatShardsShare(t *testing.T) {
	shard := func(number int, severity Severity) Part {
		at := time.Unix(1000, 0)
		r := &Report{
			Head:  reports.Head{Format: Format, Started: at, Finished: at.Add(time.Second)},
			Shard: &reports.Shard{Number: number, Of: 2, Plan: "p"}, Objects: 3, Surveyed: 2, Sampled: 1, Sample: 1,
			Path: []*State{{Name: "1.34.4", Reached: true, Transition: float64(number), Began: at}},
			Findings: []*Finding{{
				Severity: Unjudged, Check: "control plane", Kind: "cluster", What: "etcd exited", Words: string(severity),
			}},
			Failure:   string(severity),
			Checks:    []*Check{{Name: "read", Kind: "Pod", Severity: severity}},
			Processes: []reports.Process{{Component: "etcd"}},
		}
		r.Notes = append([]string{"namespace shop was created"}, r.SampleNotes()...)
		return Part{From: "a", Result: r}
	}
	merged, err := Merge([]Part{shard(2, Breaks), shard(1, Changes)})
	if err != nil {
		t.Fatal(err)
	}
	const notes = "namespace shop was created\ndry runs were sent for 2 of 4 objects, at " +
		"most 1 of one kind and shape; all objects were read"
	if got := strings.Join(merged.Notes, "\n"); got != notes {
		t.Errorf("notes\n%s\nwant\n%s", got, notes)
	}
	if len(merged.Findings) != 1 || merged.Findings[0].Words != "changes\nbreaks" || merged.Failure != "changes\nbreaks" {
		t.Errorf("findings %+v, failure %q; want one finding and both texts", merged.Findings, merged.Failure)
	}
	if len(merged.Checks) != 1 || merged.Checks[0].Severity != Breaks {
		t.Errorf("checks %+v, want one that breaks", merged.Checks)
	}
	if merged.Objects != 3 || merged.Surveyed != 4 || merged.Path[0].Transition != 2 || merged.Shard != nil {
		t.Errorf("%d objects, %d surveyed, a transition of %v, shard %v; want 3, 4, 2 and none", merged.Objects,
			merged.Surveyed, merged.Path[0].Transition, merged.Shard)
	}
	var timelines []string
	for _, one := range merged.Timelines {
		timelines = append(timelines, fmt.Sprintf("shard %d: %s took %vs, %s", one.Shard, one.Path[0].Name,
			one.Path[0].Transition, one.Processes[0].Component))
	}
	if want := []string{"shard 1: 1.34.4 took 1s, etcd", "shard 2: 1.34.4 took 2s, etcd"}; !slices.Equal(timelines, want) {
		t.Errorf("timelines %q, want %q", timelines, want)
	}
}
