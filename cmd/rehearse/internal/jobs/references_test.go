package jobs

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// loaded writes files into a new folder, changes into it, and loads run/a.yaml, whose system is in the argument.
func loaded(t *testing.T, system, steps string, files ...string) []*scenarios.Scenario {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	golden.Write(t, filepath.Join(dir, "run", "a.yaml"), `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: a}
spec:
  cluster: {version: "1.36", systems: [`+system+`]}
  steps: [`+steps+`]
`)
	for i := 0; i < len(files); i += 2 {
		golden.Write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	set, err := scenarios.Load([]string{"run/a.yaml"})
	golden.Must(t, err)
	return set.Scenarios
}

const wait = `{eventually: {kind: Pod, apiVersion: v1, name: a}}`

// The pods get what scenarios and systems name, also through definitions, versions and kustomizations.
func TestReferences(t *testing.T) {
	for name, c := range map[string]struct {
		system string
		files  []string
		want   []string
	}{
		"a definition": {
			"{name: op, definition: ../systems/op.yaml}",
			[]string{"systems/op.yaml", "manifests: [all.yaml, https://example.com/x.yaml]\n"},
			[]string{"systems/op.yaml", "systems/all.yaml"},
		},
		"CRDs and webhooks": {
			"{name: op, version: v2, process: {command: [op], crds: [crds], webhooks: [hooks-$(VERSION).yaml]}}",
			nil,
			[]string{"run/crds", "run/hooks-v2.yaml"},
		},
		"a whole path": {
			"{name: op, process: {command: [op], crds: [$(SCENARIO_DIR)/crd.yaml]}}", nil, []string{"run/crd.yaml"},
		},
		"a module's own files are in the module": {
			"{name: op, version: v1.0.0, module: {path: example.com/op, crds: [$(MODULE)/crds, own.yaml]}}",
			nil,
			[]string{"run/own.yaml"},
		},
		"a kustomization": {
			"{name: op, process: {command: [op], crds: [overlay]}}",
			[]string{
				"run/overlay/kustomization.yaml", "resources: [../base]\n",
				"run/base/kustomization.yaml", "resources: [a.yaml]\n",
				"run/base/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "run/base/other.yaml", "",
			},
			[]string{"run/base/a.yaml", "run/base/kustomization.yaml", "run/overlay/kustomization.yaml"},
		},
	} {
		set := loaded(t, c.system, wait, c.files...)
		got, err := References(set, set, nil)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

// What a definition of --system names is packed for each of its versions.
func TestReferencesOfDefinitions(t *testing.T) {
	t.Chdir(t.TempDir())
	got, err := References(nil, nil, []clusters.System{{
		Name: "op", Manifests: []string{"old.yaml"},
		Versions: []clusters.SystemVersion{{From: "v2.0.0", Manifests: []string{"new.yaml"}}},
	}})
	if want := []string{"old.yaml", "new.yaml"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// A program in the folder is an error up front: each pod would fail. One that the image may have is none.
func TestProgramsOfShards(t *testing.T) {
	for program, want := range map[string]string{
		"./op": "the pods do not get the program run/op: put it into the image", "op": "", "/usr/bin/op": "",
	} {
		set := loaded(t, "{name: op, process: {command: ["+program+"]}}", wait)
		_, err := References(set, set, nil)
		golden.Error(t, err, want)
		set = loaded(t, "", "{command: {run: ["+program+"]}}")
		_, err = References(set, set, nil)
		golden.Error(t, err, want)
		if _, err = References(set, nil, nil); err != nil {
			t.Errorf("a scenario that does not run: %v", err)
		}
	}
}
