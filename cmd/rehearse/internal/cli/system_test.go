package cli

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// What the values of --system define does not depend on the folder of the files.
func TestDefinitionFiles(t *testing.T) {
	file := func(text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "lws.yaml")
		golden.Write(t, path, text)
		return path
	}
	of := func(values ...string) map[string]string {
		t.Helper()
		contents, err := DefinitionFiles(values)
		golden.Must(t, err)
		return contents
	}
	first := of("lws=process:"+file("a"), "lws/older=simulated:"+file("b"), "kai=faults:x,y")
	for name, c := range map[string]struct {
		values []string
		same   bool
	}{
		"the same in other folders": {
			[]string{"lws=process:" + file("a"), "lws/older=simulated:" + file("b"), "kai=faults:x,y"}, true,
		},
		"another content": {[]string{"lws=process:" + file("A"), "lws/older=simulated:" + file("b"), "kai=faults:x,y"}, false},
		"swapped":         {[]string{"lws=process:" + file("b"), "lws/older=simulated:" + file("a"), "kai=faults:x,y"}, false},
		"another kind":    {[]string{"lws=module:" + file("a"), "lws/older=simulated:" + file("b"), "kai=faults:x,y"}, false},
		"other faults":    {[]string{"lws=process:" + file("a"), "lws/older=simulated:" + file("b"), "kai=faults:x"}, false},
		"one less":        {[]string{"lws=process:" + file("a"), "kai=faults:x,y"}, false},
	} {
		if got := of(c.values...); maps.Equal(got, first) != c.same {
			t.Errorf("%s: %v, the first was %v", name, got, first)
		}
	}
	if got, err := DefinitionFiles([]string{"lws=process:" + filepath.Join(t.TempDir(), "none.yaml")}); err == nil {
		t.Errorf("a missing file has the content %v", got)
	}
}
