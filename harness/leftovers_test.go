package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// Objects that programs make on somebody else's cluster are reported. Those with the run's label are removed.
func TestLeftovers(t *testing.T) {
	object := func(kind, namespace, name string, labels map[string]any) map[string]any {
		metadata := map[string]any{"name": name, "labels": labels}
		if namespace != "" {
			metadata["namespace"] = namespace
		}
		return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata}
	}
	label := filepath.Join(t.TempDir(), "label")
	p := &borrower{provider{t: t}}
	p.exec = func(int, string, []string) (string, string, int, error) {
		text, err := os.ReadFile(label)
		if err != nil {
			return "", "", 0, err
		}
		key, value, _ := strings.Cut(strings.TrimSpace(string(text)), "=")
		server := p.clusters[0].server
		server.Put("nodes", object("Node", "", "leak", nil))
		server.Put("configmaps", object("ConfigMap", "default", "leak", nil))
		server.Put("configmaps", object("ConfigMap", "default", "ours", map[string]any{key: value}))
		server.Put("configmaps", object("ConfigMap", "default", "of-another-run", map[string]any{key: "other"}))
		server.Put("namespaces", object("Namespace", "", "left", nil))
		server.Put("configmaps", object("ConfigMap", "left", "goes-with-it", nil))
		server.Put("configmaps", object("ConfigMap", "makes", "in-its-own", nil))
		server.Put("events", object("Event", "default", "happened", nil))
		owned := object("Pod", "default", "owned", nil)
		owned["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
			"apiVersion": "v1", "kind": "Node",
			"name": "leak", "uid": "u",
		}}
		server.Put("pods", owned)
		return "", "", 0, nil
	}
	text := scenario("makes", "  - command: {run: [sh, -c, 'echo $REHEARSE_RUN_LABEL > "+label+
		"']}\n  - exec: {pod: any, run: [x]}\n") + scenario("other", makeMap("a"))
	said := &strings.Builder{}
	run := ran(t, p, text, harness.Options{
		Environment: []string{"PATH=/usr/bin:/bin"},
		Say:         sayInto(said),
	})
	removal := run.Tracks[0].Setup[len(run.Tracks[0].Setup)-1]
	want := "removed from cluster X, by the run's label: ConfigMap default/ours\n" +
		"left on cluster X, by a command or a system, or created by somebody else meanwhile: ConfigMap default/leak, " +
		"ConfigMap default/of-another-run, Namespace left, Node leak\n"
	if got := strings.ReplaceAll(removal.Evidence, p.clusters[0].name, "X"); got != want ||
		removal.Status != reports.Passed {
		t.Errorf("%s: got\n%s\nwant\n%s", removal.Status, got, want)
	}
	if got := strings.ReplaceAll(said.String(), p.clusters[0].name, "X"); got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
	if p.clusters[0].server.Object("configmaps", "default", "ours") != nil || p.clusters[0].server.Object("configmaps",
		"default", "leak") == nil {
		t.Error("what has the run's label must go, and all else must stay")
	}
	if len(run.Tracks) != 2 || p.clusters[1].server.Requests("list", "Node") != 0 {
		t.Error("where no program runs nobody looks")
	}
}

// Kinds that could not be listed are never reported as absent.
func TestLeftoversThatCannotBeSeen(t *testing.T) {
	p := &borrower{provider{t: t}}
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb == "list" && r.Kind == "Service" && r.Namespace == "" {
			return &apitest.Fault{Status: apitest.Status(403, "Forbidden", "you may not")}
		}
		return nil
	}
	run := ran(t, p, scenario("runs", "  - command: {run: [\"true\"], shared: true}\n"),
		harness.Options{Environment: []string{"PATH=/usr/bin:/bin"}})
	removal := run.Tracks[0].Setup[len(run.Tracks[0].Setup)-1]
	if want := "could not check for remaining services: you may not\n"; removal.Evidence != want {
		t.Errorf("got %q, want %q", removal.Evidence, want)
	}
}

func sayInto(b *strings.Builder) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
}
