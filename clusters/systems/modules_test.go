package systems

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// builder has programs by version, and records which were built.
type builder struct {
	programs map[string]clusters.BuiltModule
	built    []string
}

func (b *builder) BuildModule(_ context.Context, m clusters.ModuleProgram) (clusters.BuiltModule, error) {
	program, ok := b.programs[m.Version]
	if !ok {
		return program, errors.New("main.go:3:15: undefined: undefinedName")
	}
	b.built = append(b.built, m.String())
	return program, nil
}

func (b *builder) CachedModule(m clusters.ModuleProgram) (clusters.BuiltModule, bool) {
	program, ok := b.programs[m.Version]
	return program, ok
}

// operator is a program that records its arguments and keeps running, with files of its module.
func operator(t *testing.T, version string) clusters.BuiltModule {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"program":            "#!/bin/sh\necho " + version + " \"$@\" > args\nexec sleep 1000\n",
		"crds/widgets.yaml":  widgetCRD,
		"kustomization.yaml": "resources: [widgets.yaml]\n",
		"webhook.yaml":       widgetWebhook,
	} {
		path := filepath.Join(dir, name)
		golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		golden.Must(t, os.WriteFile(path, []byte(text), 0o755))
	}
	return clusters.BuiltModule{Program: filepath.Join(dir, "program"), Dir: dir}
}

func module(version string) clusters.System {
	return clusters.System{Name: "widgets", Version: version, Module: &clusters.SystemModule{
		Path: "example.com/widgets", SystemProcess: clusters.SystemProcess{
			Command: []string{"--module=$(MODULE)", "--version=$(VERSION)"},
			CRDs:    []string{"$(MODULE)/crds"}, Webhooks: []string{"$(MODULE)/webhook.yaml"},
			Objects: []map[string]any{{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "self"}}},
		},
	}}
}

func TestLifeOfAModule(t *testing.T) {
	b := &builder{programs: map[string]clusters.BuiltModule{
		"v1.0.0": operator(t, "v1.0.0"), "v1.1.0": operator(t, "v1.1.0"),
	}}
	c := newFakeCluster(t)
	s := newSet(t, c, Options{Modules: b})
	args := func() string {
		t.Helper()
		place := s.system("widgets").place
		var said []byte
		err := waiting.Until(t.Context(), nil, func(context.Context) error {
			var err error
			if said, err = os.ReadFile(place.File("args")); err == nil && len(said) == 0 {
				err = errors.New("nothing yet")
			}
			return err
		})
		golden.Must(t, err)
		return strings.TrimSpace(string(said))
	}
	converge(t, s, module("v1.0.0"))
	if got, want := args(), "v1.0.0 --module="+b.programs["v1.0.0"].Dir+" --version=v1.0.0"; got != want {
		t.Errorf("it was started with %s, want %s", got, want)
	}
	if c.crd() == nil || c.webhooks() == nil || c.Object("pods", "default", "self") == nil {
		t.Errorf("not written: %v, %v, %v", c.crd(), c.webhooks(), c.Objects("pods"))
	}
	applies := c.Requests("apply", "Pod")
	golden.Must(t, os.Remove(s.system("widgets").place.File("args")))
	converge(t, s, module("v1.1.0"))
	if got := args(); !strings.HasPrefix(got, "v1.1.0 ") {
		t.Errorf("it was started with %s", got)
	}
	if c.Requests("apply", "Pod") != applies {
		t.Error("an object that is there as it was applied was applied again, while the system's webhooks do not answer")
	}
	before := pid(s, "widgets")
	err := s.Converge(t.Context(), []clusters.System{module("v1.2.0")})
	if err == nil || !strings.Contains(err.Error(), "system widgets(module, v1.2.0): main.go:3:15: undefined") {
		t.Errorf("a build that fails: %v", err)
	}
	if !alive(s.system("widgets").process) || pid(s, "widgets") != before {
		t.Error("what cannot be built has ended what runs")
	}
	converge(t, s)
	if s.system("widgets") != nil || c.Count("pods") > 0 {
		t.Error("a removed system has left something")
	}
}

func TestModuleThatEndsAtOnce(t *testing.T) {
	built := operator(t, "v1.0.0")
	golden.Must(t, os.WriteFile(built.Program, []byte("#!/bin/sh\necho unknown flag: --version\nexit 2\n"), 0o755))
	s := newSet(t, newFakeCluster(t),
		Options{Modules: &builder{programs: map[string]clusters.BuiltModule{"v1.0.0": built}}})
	system := module("v1.0.0")
	system.Module.Ready = &clusters.SystemReadiness{TCP: "$(WEBHOOK_HOST):$(WEBHOOK_PORT)"}
	err := s.Converge(t.Context(), []clusters.System{system})
	var broken *clusters.BrokenError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "unknown flag: --version") {
		t.Errorf("got %v", err)
	}
}

func TestCheckModule(t *testing.T) {
	b := &builder{programs: map[string]clusters.BuiltModule{"v1.0.0": operator(t, "v1.0.0")}}
	noCRD := module("v1.0.0")
	noCRD.Module.CRDs = []string{"$(MODULE)/webhook.yaml"}
	notThere := module("v1.0.0")
	notThere.Module.CRDs = []string{"$(MODULE)/config"}
	misspelt := module("v1.1.0")
	misspelt.Module.Webhooks = []string{"/no/such/file"}
	for name, c := range map[string]struct {
		system clusters.System
		want   string
	}{
		"not built, and a file beside it is not there": {misspelt, "/no/such/file"},
		"all there":         {module("v1.0.0"), ""},
		"not built yet":     {module("v1.1.0"), ""},
		"no such folder":    {notThere, "/config: no such file"},
		"no CRDs in a file": {noCRD, "contains no object of the expected kinds"},
		"no version":        {module(""), "needs a version"},
	} {
		err := Check(t.Context(), []clusters.System{c.system}, nil, b)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	s := newSet(t, newFakeCluster(t), Options{})
	if err := s.Converge(t.Context(), []clusters.System{module("v1.0.0")}); err == nil ||
		!strings.Contains(err.Error(), "not supported here") {
		t.Errorf("without anybody to build it: %v", err)
	}
}
