package pastruns

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// If reports of shards are shown as one, each shard must be there once: one that is missing is an error in the report.
func TestReadShards(t *testing.T) {
	shard := func(number int) string {
		path := filepath.Join(t.TempDir(), RunFile)
		now := time.Unix(1000, 0)
		text, err := json.Marshal(&reports.Run{
			Head:     reports.Head{Format: reports.Format, Started: now, Finished: now},
			Provider: "local", Tracks: []*reports.Track{}, Shard: &reports.Shard{Number: number, Of: 3, Plan: "p"},
		})
		golden.Must(t, err)
		golden.Must(t, os.WriteFile(path, text, 0o600))
		return path
	}
	one, two, again := shard(1), shard(2), shard(1)
	for want, paths := range [][]string{{one}, {one, two}, {one, two, shard(3)}} {
		run, _, err := Read(paths...)
		golden.Must(t, err)
		if got := reports.Count(run).Setup; got != want%2 {
			t.Errorf("%d shards: %d are missing", len(paths), got)
		}
	}
	_, _, err := Read(one, again)
	golden.Error(t, err, "shard 1 is there twice")
}
