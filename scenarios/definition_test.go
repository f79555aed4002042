package scenarios

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// shared is a scenario whose system is defined by a file; the fields follow.
const shared = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: shared}
spec:
  cluster:
    version: "1.35"
    systems:
    - name: gadgets
      definition: systems/gadgets.yaml
`

const steps = `  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - transition:
      systems: [{name: gadgets, definition: systems/other.yaml, version: v3}]
`

// definitions writes a scenario and the files that define its systems. It returns the scenario's path.
func definitions(t *testing.T, scenario string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	golden.Must(t, os.Mkdir(filepath.Join(dir, "systems"), 0o700))
	for name, text := range files {
		golden.Write(t, filepath.Join(dir, "systems", name), text)
	}
	path := filepath.Join(dir, "a.yaml")
	golden.Write(t, path, scenario)
	return path
}

func TestDefinitionsOfSystems(t *testing.T) {
	files := map[string]string{
		"gadgets.yaml": "name: default\nversion: v1\nprocess: {command: [./gadgets, '$(VERSION)'], crds: [crds]}\n",
		"other.yaml":   "name: other\nversion: v2\nprocess: {command: [./other]}\n",
	}
	path := definitions(t, shared+"      version: v2\n"+steps, files)
	set, err := Load([]string{path})
	golden.Must(t, err)
	first := set.Scenarios[0].Path()[0].Systems[0]
	folder := filepath.Join(filepath.Dir(path), "systems")
	if first.Name != "gadgets" || first.Version != "v2" || first.Definition != "" ||
		!slices.Equal(first.Process.Command, []string{filepath.Join(folder, "gadgets"), "$(VERSION)"}) ||
		!slices.Equal(first.Process.CRDs, []string{filepath.Join(folder, "crds")}) {
		t.Errorf("the first state has %+v, %+v", first, first.Process)
	}
	last := set.Scenarios[0].Path()[1].Systems[0]
	if last.Name != "gadgets" || last.Version != "v3" || last.Process.Command[0] != filepath.Join(folder, "other") {
		t.Errorf("the last state has %+v, %+v", last, last.Process)
	}
	if want := files["gadgets.yaml"] + files["other.yaml"]; set.Scenarios[0].Definitions != want {
		t.Errorf("it was read from %q, want %q", set.Scenarios[0].Definitions, want)
	}
}

func TestWrongDefinitionsOfSystems(t *testing.T) {
	for name, c := range map[string]struct{ fields, file, want string }{
		"a file that is missing":  {"", "", "a.yaml:9:19: the definition of the system cannot be read: open "},
		"another field":           {"      module: {path: x}\n", "", "a.yaml:10:7: a system with a definition has no other fields"},
		"a field that is unknown": {"", "proces: {}\n", `gadgets.yaml:1:1: unknown field "proces"`},
		"an incomplete file":      {"", "version: v1\n", `a.yaml:8:7: give the system "gadgets" one of simulated`},
		"a file that is wrong":    {"", "process: {command: []}\n", "gadgets.yaml:1:20: a command is a program and its arguments"},
		"a definition of it":      {"", "definition: b.yaml\n", "gadgets.yaml:1:13: a definition names no other file"},
		"two definitions":         {"", "name: a\n---\nname: b\n", "gadgets.yaml:1:1: want one document with a system, not 2"},
		"a list":                  {"", "- name: a\n", "gadgets.yaml:1:1: want a system, not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"other.yaml": "process: {command: [x]}\n"}
			if c.file != "" {
				files["gadgets.yaml"] = c.file
			}
			_, err := Load([]string{definitions(t, shared+c.fields+steps, files)})
			golden.Error(t, err, c.want)
		})
	}
	_, err := LoadBytes("a.yaml", []byte(shared[:len(shared)-len("systems/gadgets.yaml\n")]+"[x]\n"+steps))
	golden.Error(t, err, "want the name of a file, not a list")
}
