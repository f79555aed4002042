package releases

import (
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A list is read once, and again after another process has rewritten it.
func TestListCache(t *testing.T) {
	e := entry{home: t.TempDir(), version: clusters.Version{Major: 1, Minor: 34, Patch: 4}}
	write := func(gates ...string) {
		list := &features.List{Version: "1.34.4", Gates: map[string]features.Gate{}}
		for _, gate := range gates {
			list.Gates[gate] = features.Gate{}
		}
		golden.Must(t, writeJSON(filepath.Join(e.home, listName), listTempPrefix, storedList{Format: listFormat, List: list}))
	}
	var c listCache
	if _, err := c.read(e); err == nil {
		t.Error("a list that is not there was read")
	}
	write("A")
	first, err := c.read(e)
	golden.Must(t, err)
	if again, err := c.read(e); err != nil || again != first {
		t.Errorf("the same file was read twice (%v)", err)
	}
	write("A", "B")
	if next, err := c.read(e); err != nil || len(next.Gates) != 2 {
		t.Errorf("%v, %v; want the two gates of the new file", next, err)
	}
}
