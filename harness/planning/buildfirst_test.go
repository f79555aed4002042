package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// proxy serves all versions of modules but one. It notes what was built.
type proxy struct {
	missing string
	built   []string
}

func (*proxy) CachedModule(clusters.ModuleProgram) (clusters.BuiltModule, bool) {
	return clusters.BuiltModule{}, false
}

func (p *proxy) BuildModule(ctx context.Context, m clusters.ModuleProgram) (clusters.BuiltModule, error) {
	p.built = append(p.built, m.Version)
	if m.Version == p.missing {
		return clusters.BuiltModule{}, errors.New(m.Version + " is not served")
	}
	return clusters.BuiltModule{}, ctx.Err()
}

const throughVersions = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: NAME}
spec:
  cluster: {version: "1.34", systems: [{name: op, version: FIRST, module: {path: example.com/op}}]}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}
---
`

func planFirst(ctx context.Context, t *testing.T, modules *proxy) (*Plan, error) {
	t.Helper()
	text := ""
	for _, one := range [][2]string{{"stays", "v0.7.0"}, {"upgraded", "v0.7.0"}, {"new", "v0.8.0"}} {
		text += strings.NewReplacer("NAME", one[0], "FIRST", one[1]).Replace(throughVersions)
	}
	const step, upgrade = "metadata: {name: upgraded}}\n---", "metadata: {name: upgraded}}\n" +
		"  - transition: {systems: [{name: op, version: v0.8.0}]}\n---"
	set, err := scenarios.LoadBytes("op.yaml", []byte(strings.Replace(text, step, upgrade, 1)))
	golden.Must(t, err)
	return New(ctx, paper{}, set.Scenarios, func(*scenarios.Step) Verb { return Verb{} },
		Options{LeaveOut: true, BuildFirst: true, Modules: modules})
}

// A version that cannot be built takes only its own scenarios out of the plan, also if another one would share their
// track.
func TestUnbuiltVersionLeavesOthersAlone(t *testing.T) {
	modules := &proxy{missing: "v0.8.0"}
	plan, err := planFirst(t.Context(), t, modules)
	golden.Must(t, err)
	var got []string
	for _, track := range plan.Tracks {
		for _, entry := range track.Entries {
			got = append(got, fmt.Sprintf("%s: %d states of %d", entry.Scenario.Title(), entry.States, len(track.Path)))
		}
	}
	for _, out := range plan.LeftOut {
		got = append(got, out.Scenario.Title()+": "+out.Err.Error())
	}
	if want := []string{
		"stays: 1 states of 1",
		"upgraded: op.yaml:16:5: prepare system op: v0.8.0 is not served",
		"new: op.yaml:22:3: prepare system op: v0.8.0 is not served",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"v0.7.0", "v0.8.0"}; !slices.Equal(modules.built, want) {
		t.Errorf("built %q, want %q", modules.built, want)
	}
}

// An interrupted build says nothing about the versions.
func TestInterruptedBuild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := planFirst(ctx, t, &proxy{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
