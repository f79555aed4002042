package planning

import (
	"context"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// onlyVersion is a cache that has one version of every module.
type onlyVersion string

func (v onlyVersion) CachedModule(m clusters.ModuleProgram) (clusters.BuiltModule, bool) {
	return clusters.BuiltModule{}, m.Version == string(v)
}

func (v onlyVersion) BuildModule(context.Context, clusters.ModuleProgram) (clusters.BuiltModule, error) {
	return clusters.BuiltModule{}, nil
}

func TestUnbuilt(t *testing.T) {
	at := func(version string) clusters.State {
		return clusters.State{Systems: []clusters.System{
			{Name: "process", Process: &clusters.SystemProcess{}},
			{Name: "m", Version: version, Module: &clusters.SystemModule{Path: "example.com/m"}},
		}}
	}
	plan := &Plan{Modules: onlyVersion("v1.1.0"), Tracks: []*Track{
		{Path: []clusters.State{at("v1.2.0"), at("v1.1.0"), at("v1.0.0")}}, {Path: []clusters.State{at("v1.2.0")}},
	}}
	want := []clusters.ModuleProgram{
		{Path: "example.com/m", Version: "v1.2.0"}, {Path: "example.com/m", Version: "v1.0.0"},
	}
	if got := plan.unbuilt(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
