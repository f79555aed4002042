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
		golden.Must(t, (&ShardFlags{Shard: shard}).Put(&o, "lws=process:"+file))
		if !maps.Equal(o.Definitions, want) {
			t.Errorf("shard %q: %v, want %v", shard, o.Definitions, want)
		}
	}
}

// The new definition of a system does not replace the old one among the definitions.
func TestDefinitionsOfUpgrades(t *testing.T) {
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, "old.yaml"), "a")
	golden.Write(t, filepath.Join(dir, "new.yaml"), "b")
	flags := SystemFlags{
		Systems:  []string{"op=process:" + filepath.Join(dir, "old.yaml")},
		Upgrades: []string{"op=process:" + filepath.Join(dir, "new.yaml")},
	}
	got, err := flags.Definitions()
	if want := map[string]string{"op=process:": "a", "--upgrade op=process:": "b"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	flags.Upgrades = []string{"op=process:nowhere.yaml"}
	_, err = flags.Definitions()
	golden.Error(t, err, "nowhere.yaml")
}
