package session

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The definitions of --system are put into the plan of a shard.
func TestDefinitionsOfShards(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lws.yaml")
	golden.Write(t, file, "a")
	for shard, want := range map[string]map[string]string{"": nil, "1/2": {"lws=process:": "a"}} {
		var o harness.PlanOptions
		if err := (&ShardFlags{Shard: shard}).Put(&o, "lws=process:"+file); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(o.Definitions, want) {
			t.Errorf("shard %q: %v, want %v", shard, o.Definitions, want)
		}
	}
}
