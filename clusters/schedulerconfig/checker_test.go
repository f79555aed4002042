package schedulerconfig_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/clusters/schedulerconfig"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// scheduler returns the path of the real kube-scheduler of a minor version, and its exact version.
func scheduler(t *testing.T, minor string) (program, version string) {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: it needs kube-scheduler, which may have to be built; go test without -short runs it")
	}
	store, err := releases.New(releases.Options{Progress: t.Logf})
	golden.Must(t, err)
	if version, err = store.Resolve(t.Context(), minor); err != nil {
		t.Fatal(err)
	}
	programs, err := store.Ensure(t.Context(), version, string(clusters.Scheduler))
	golden.Must(t, err)
	return programs.Path(string(clusters.Scheduler)), version
}

func profiles(t *testing.T, text string) []map[string]any {
	t.Helper()
	var list []map[string]any
	golden.Must(t, yaml.Unmarshal([]byte(text), &list))
	return list
}

func TestCheckAsksTheVersionsOwnScheduler(t *testing.T) {
	gang := map[string]bool{"GenericWorkload": true, "GangScheduling": true}
	cases := []struct {
		name, profiles string
		gates          map[string]bool
		// wants has parts of the expected error by minor version; none if no error is expected.
		wants map[string][]string
	}{
		{"what every version takes", `
- schedulerName: default-scheduler
- schedulerName: binpack
  percentageOfNodesToScore: 100
  plugins: {multiPoint: {disabled: [{name: PodTopologySpread}]}, score: {disabled: [{name: "*"}]}}
  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]`, nil, map[string][]string{"1.34": nil, "1.35": nil, "1.36": nil}},
		{
			"an extension point of 1.36", `[{schedulerName: a}, {schedulerName: b, plugins: {placementGenerate: {}}}]`, nil,
			map[string][]string{
				"1.34": {`unknown field "schedulerProfiles[1].plugins.placementGenerate"`},
				"1.35": {`unknown field "schedulerProfiles[1].plugins.placementGenerate"`},
				"1.36": nil,
			},
		},
		{
			"an argument that came later",
			`[{schedulerName: a, pluginConfig: [{name: DynamicResources, args: {bindingTimeout: 5s}}]}]`, nil,
			map[string][]string{
				"1.34": {"schedulerProfiles[0].pluginConfig[0]", "DynamicResources", `unknown field "bindingTimeout"`},
				"1.35": {"schedulerProfiles[0].pluginConfig[0].args.bindingTimeout: Forbidden", "feature gate is disabled"},
				"1.36": nil,
			},
		},
		{
			"a plugin that came with a gate",
			`[{schedulerName: a, plugins: {score: {disabled: [{name: Nope}]}, permit: {disabled: [{name: GangScheduling}]}}}]`,
			nil,
			map[string][]string{
				"1.34": {
					`schedulerProfiles[0].plugins.permit.disabled[0].name: `, `no plugin "GangScheduling"`,
					`schedulerProfiles[0].plugins.score.disabled[0].name: `, `no plugin "Nope"`, "NodeResourcesFit",
				},
				"1.36": {`no plugin "Nope"`},
			},
		},
		{
			"the same with the gate", `[{schedulerName: a, plugins: {permit: {disabled: [{name: GangScheduling}]}}}]`, gang,
			map[string][]string{"1.35": nil, "1.36": nil},
		},
		{
			"a name twice", `[{schedulerName: a}, {schedulerName: a}]`, nil,
			map[string][]string{
				"1.34": {"schedulerProfiles[1].schedulerName: Duplicate value"},
				"1.36": {"schedulerProfiles[1].schedulerName: Duplicate value"},
			},
		},
		{
			"different queues",
			`[{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {disabled: [{name: "*"}], enabled: [{name: Other}]}}}]`, nil,
			map[string][]string{"1.36": {"schedulerProfiles[1].plugins.queueSort", "must be the same for all profiles"}},
		},
		{
			"an unknown plugin", `[{schedulerName: a}, {schedulerName: b, plugins: {score: {enabled: [{name: Nope}]}}}]`, nil,
			map[string][]string{"1.34": {"schedulerProfiles[1] (b): ", `"Nope" does not exist`}},
		},
		{
			"an unknown plugin configured", `[{schedulerName: a, pluginConfig: [{name: Nope, args: {x: 1}}]}]`, nil,
			map[string][]string{"1.36": {"schedulerProfiles[0].pluginConfig[0].name: ", `no plugin "Nope"`}},
		},
		{
			"an unknown argument", `[{schedulerName: a, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategi: {}}}]}]`,
			nil,
			map[string][]string{"1.34": {"schedulerProfiles[0].pluginConfig[0]", `unknown field "scoringStrategi"`}},
		},
		{
			"a bad argument",
			`[{schedulerName: a, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Tidy}}}]}]`, nil,
			map[string][]string{"1.35": {"schedulerProfiles[0] (a): ", `scoringStrategy.type: Unsupported value: "Tidy"`}},
		},
		{
			"two unknown fields", `[{schedulerName: a, first: 1, plugins: {second: {}}}]`, nil,
			map[string][]string{"1.35": {`"schedulerProfiles[0].first"`, `"schedulerProfiles[0].plugins.second"`}},
		},
		{
			"a wrong type", `[{schedulerName: a, percentageOfNodesToScore: most}]`, nil,
			map[string][]string{"1.36": {"percentageOfNodesToScore", "int32"}},
		},
		{
			"no queue", `[{schedulerName: a, plugins: {multiPoint: {disabled: [{name: "*"}]}}}]`, nil,
			map[string][]string{"1.34": {"schedulerProfiles[0] (a): ", "queue sort plugin required"}},
		},
	}
	var checker schedulerconfig.Checker
	for _, minor := range []string{"1.34", "1.35", "1.36"} {
		program, version := scheduler(t, minor)
		for _, c := range cases {
			wants, asked := c.wants[minor]
			if !asked {
				continue
			}
			t.Run(minor+" "+c.name, func(t *testing.T) {
				err := checker.Check(t.Context(), is(program),
					clusters.State{Version: version, FeatureGates: c.gates, SchedulerProfiles: profiles(t, c.profiles)})
				if len(wants) > 0 {
					wants = append(wants, "Kubernetes "+version)
				}
				golden.Error(t, err, wants...)
			})
		}
	}
}

func TestCheckGivesTheSchedulersOwnFlags(t *testing.T) {
	program, version := scheduler(t, "1.36")
	var checker schedulerconfig.Checker
	state := clusters.State{
		Version: version, SchedulerProfiles: profiles(t, `[{schedulerName: a}]`),
		Components: map[clusters.Component]clusters.ComponentState{clusters.Scheduler: {Flags: map[string]string{"nonsense": "1"}}},
	}
	golden.Error(t, checker.Check(t.Context(), is(program), state), "unknown flag: --nonsense")
}

// fake returns a program that runs the script, and a function that counts its starts.
func fake(t *testing.T, script string) (program string, started func() int) {
	t.Helper()
	dir := t.TempDir()
	program, count := filepath.Join(dir, "kube-scheduler"), filepath.Join(dir, "count")
	golden.Write(t, program, "#!/bin/sh\necho x >>'"+count+"'\n"+script)
	return program, func() int {
		data, err := os.ReadFile(count)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(data), "x")
	}
}

const writesAnswer = `for a in "$@"; do case "$a" in --write-config-to=*) echo 'profiles: []' >"${a#*=}";; esac; done
`

func TestCheckRemembersVerdicts(t *testing.T) {
	program, started := fake(t, writesAnswer)
	var checker schedulerconfig.Checker
	state := clusters.State{Version: "1.36.0", SchedulerProfiles: profiles(t, `[{schedulerName: a}]`)}
	for range 3 {
		golden.Must(t, checker.Check(t.Context(), is(program), state))
	}
	if n := started(); n != 1 {
		t.Errorf("started %d times for one question", n)
	}
	state.FeatureGates = map[string]bool{"GenericWorkload": true}
	golden.Must(t, checker.Check(t.Context(), is(program), state))
	if n := started(); n != 2 {
		t.Errorf("started %d times for two questions", n)
	}
	if err := checker.Check(t.Context(), is("/does/not/exist"), clusters.State{Version: "1.36.0"}); err != nil {
		t.Errorf("without profiles there is nothing to ask: %v", err)
	}
}

func TestNoAnswerIsNoRejection(t *testing.T) {
	killed, _ := fake(t, "kill -9 $$\n")
	silent, startedSilent := fake(t, "exit 0\n")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		program string
	}{
		"no such program": {t.Context(), "/does/not/exist"}, "killed": {t.Context(), killed},
		"wrote nothing": {t.Context(), silent}, "interrupted": {cancelled, silent},
	} {
		t.Run(name, func(t *testing.T) {
			var checker schedulerconfig.Checker
			state := clusters.State{Version: "1.36.0", SchedulerProfiles: profiles(t, `[{schedulerName: a}]`)}
			before := startedSilent()
			for range 2 {
				err := checker.Check(c.ctx, is(c.program), state)
				if err == nil || !strings.Contains(err.Error(), "ask "+c.program+" about its profiles: ") {
					t.Fatalf("want that it could not be asked, got %v", err)
				}
			}
			if name == "wrote nothing" && startedSilent() != before+2 {
				t.Error("no answer was remembered as one")
			}
		})
	}
}

func TestCheckAsksForEachScheduler(t *testing.T) {
	program, version := scheduler(t, "1.35")
	var checker schedulerconfig.Checker
	state := clusters.State{
		Version: version, SchedulerProfiles: profiles(t, `[{schedulerName: default-scheduler}]`),
		Schedulers: []clusters.NamedScheduler{
			{Name: "a"},
			{Name: "b", Profiles: profiles(t, `[{schedulerName: b}, {schedulerName: b}]`)},
			{Name: "c", Profiles: profiles(t, `[{schedulerName: c, plugins: {score: {enabled: [{name: Nope}]}}}]`)},
			{Name: "d", Profiles: profiles(t, `[{schedulerName: d, plugins: {permit: {disabled: [{name: GangScheduling}]}}}]`)},
		},
		Components: map[clusters.Component]clusters.ComponentState{"kube-scheduler/d": {FeatureGates: map[string]bool{"GenericWorkload": true, "GangScheduling": true}}},
	}
	err := checker.Check(t.Context(), is(program), state)
	golden.Error(t, err, "schedulers[1].profiles[1].schedulerName: Duplicate value", `schedulers[2].profiles[0] (c): `,
		`"Nope" does not exist`)
	for _, fine := range []string{"schedulerProfiles", "schedulers[0]", "schedulers[3]"} {
		if strings.Contains(fmt.Sprint(err), fine) {
			t.Errorf("%s is rejected: %v", fine, err)
		}
	}
	// Without gates of its own, that scheduler rejects the configuration of a plugin that it does not have, too.
	state.Schedulers, state.Components = []clusters.NamedScheduler{{
		Name:     "d",
		Profiles: profiles(t, `[{schedulerName: d, pluginConfig: [{name: Nope, args: {x: 1}}]}]`),
	}}, nil
	golden.Error(t, checker.Check(t.Context(), is(program), state), "schedulers[0].profiles[0].pluginConfig[0].name: ")
}

// is returns the same program for every version.
func is(program string) func(string) (string, error) {
	return func(string) (string, error) { return program, nil }
}

// The program of a scheduler's own version is asked about its profiles.
func TestEachSchedulerIsAskedItself(t *testing.T) {
	state := clusters.State{
		Version: "1.36.3", Schedulers: []clusters.NamedScheduler{{Name: "batch", Profiles: []map[string]any{{}}}},
		Components: map[clusters.Component]clusters.ComponentState{
			"kube-scheduler": {Version: "1.34.4"}, "kube-scheduler/batch": {Version: "1.35.4"},
		},
	}
	var checker schedulerconfig.Checker
	err := checker.Check(t.Context(), func(version string) (string, error) { return "", errors.New(version) }, state)
	golden.Error(t, err, "1.35.4")
}
