package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func racing() []features.List {
	gate := func(needs []string, specs ...features.Spec) features.Gate {
		return features.Gate{Specs: specs, Needs: needs}
	}
	alpha, beta := features.Spec{Since: "1.34", Stage: features.Alpha}, features.Spec{
		Since: "1.36", Stage: features.Beta,
		Default: true,
	}
	ga := features.Spec{Since: "1.37", Stage: features.GA, Default: true, Locked: true}
	old := features.Spec{Since: "1.30", Stage: features.Beta, Default: true}
	const server, manager, scheduler = clusters.APIServer, clusters.ControllerManager, clusters.Scheduler
	return []features.List{
		{Version: "1.34.4", Gates: map[string]features.Gate{
			"RacingPods": gate(nil, alpha),
			"Old":        gate(nil, features.Spec{Since: "0.0", Stage: features.Beta, Default: true}),
		}},
		{
			Version: "1.36.3",
			Gates: map[string]features.Gate{
				"RacingPods": gate(nil, alpha, beta), "RacingTeams": gate([]string{"RacingPods"},
					features.Spec{Since: "1.36", Stage: features.Alpha}),
				"Old": gate(nil, old), "Watch": gate(nil, old),
			},
			Programs: map[clusters.Component]map[string]bool{
				server: {"RacingPods": true, "Old": true, "Watch": true}, manager: {"RacingPods": true, "Watch": false},
				scheduler: {"RacingPods": true, "RacingTeams": false, "Watch": true},
			},
		},
		{
			Version: "1.37.2",
			Gates: map[string]features.Gate{
				"RacingPods": gate(nil, alpha, beta, ga), "RacingTeams": gate([]string{"RacingPods"},
					features.Spec{Since: "1.37", Stage: features.Beta},
					features.Spec{Since: "1.37", Stage: features.Beta, Default: true, MinCompatibility: "1.37"}),
				"Watch": gate(nil, old),
			},
			Programs: map[clusters.Component]map[string]bool{
				server: {"Watch": true}, manager: {"Watch": true},
				scheduler: {"RacingTeams": false, "Watch": true},
			},
		},
	}
}

func TestGates(t *testing.T) {
	cacheOf(t, racing()...)
	for name, args := range map[string][]string{
		"names":      {"RacingPods", "RacingTeams"},
		"names.json": {"RacingTeams", "-o", "json"},
		"version":    {"--version", "1.36"},
		"always":     {"--version", "1.34", "Old"},
		"one":        {"--version", "1.34.4", "RacingTeams"},
		"up":         {"--path", "1.34,1.36.3,1.37"},
		"down.json":  {"--path", "1.37,1.36", "RacingTeams", "RacingPods", "-o", "json"},
		"nothing":    {"--path", "1.36,1.37", "Old", "--path", "1.37"},
	} {
		t.Run(name, func(t *testing.T) {
			out := exits(t, cli.ExitOK, append([]string{"gates"}, args...)...)
			golden.Check(t, filepath.Join("testdata", "gates", name+".txt"), out)
		})
	}
}

func TestGatesWrongInput(t *testing.T) {
	cacheOf(t, racing()...)
	for name, test := range map[string]struct {
		args string
		want string
	}{
		"nothing asked": {"", "name a feature gate, or give --version or --path"},
		"misspelt": {
			"RacingPod",
			"feature gate RacingPod does not exist in Kubernetes 1.34.4, 1.36.3, 1.37.2; did you mean RacingPods?",
		},
		"in another case":    {"--version 1.36 racingpods", "did you mean RacingPods?"},
		"made up":            {"--path 1.36,1.37 Zzzzzzzzzzzz", "check its spelling"},
		"a path of one":      {"--path 1.36", "want two versions or more"},
		"both":               {"--path 1.36,1.37 --version 1.36", "either --version or --path"},
		"no such output":     {"--version 1.36 -o yaml", "want table or json"},
		"no version":         {"--version latest", `version "latest"`},
		"a list not at hand": {"--version 1.35.1", "read the list of feature gates of Kubernetes 1.35.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir()) // no Go tool, so that nothing is fetched
			rejected(t, "", append([]string{"gates"}, strings.Fields(test.args)...), test.want)
		})
	}
	cacheOf(t)
	rejected(t, "", []string{"gates", "RacingPods"}, "`rehearse fetch 1.36`")
}

// Lint finds what a plan finds, by the lists in the cache, and says what it could not check.
func TestLintStates(t *testing.T) {
	cacheOf(t, racing()...)
	steps := func(state, more string) string { return strings.Replace(scenario(state), `"1.35"`, `"1.36"`, 1) + more }
	for name, test := range map[string]struct {
		text, err, note string
	}{
		"well": {text: steps(", featureGates: {RacingPods: false}", "")},
		"an unknown gate": {
			text: steps(", featureGates: {RacingPodz: true}", ""),
			err:  "s.yaml:5:3: feature gate RacingPodz is unknown to Kubernetes 1.36.3; did you mean RacingPods?",
		},
		"a locked gate": {
			text: steps(", featureGates: {RacingPods: true}",
				"  - transition: {version: \"1.37\", featureGates: {RacingPods: false}}\n"),
			err: "s.yaml:8:5: feature gate RacingPods cannot be false in Kubernetes 1.37.2",
		},
		"a dependency": {text: steps(", components: {kube-scheduler: {featureGates: {RacingTeams: true, "+
			"RacingPods: false}}}", ""), err: "needs RacingPods"},
		"version skew": {
			text: steps("", "  - transition: {version: \"1.34\"}\n"),
			err:  "s.yaml:8:5: the downgrade from Kubernetes 1.36.3 to 1.34.4 skips 1.35",
		},
		"a transition to nowhere": {
			text: steps("", "  - transition: {version: \"1.36.3\"}\n"),
			err:  "leads to the state that the cluster already has",
		},
		"no list, gates": {text: steps(", featureGates: {RacingPods: true}",
			"  - transition: {version: \"1.35\"}\n"), note: "not checked: feature gates of Kubernetes 1.35: its list is not " +
			"in the cache; get it with `rehearse fetch 1.35`"},
		"no list, no gates": {text: steps("", "  - transition: {version: \"1.35\"}\n")},
		"any version": {
			text: strings.Replace(scenario(", featureGates: {RacingPods: true}"),
				`version: "1.35", `, "", 1) + "  - transition: {version: \"1.36\"}\n",
			note: "not checked: feature gates of a cluster whose version",
		},
		"profiles": {
			text: steps(", schedulerProfiles: [{schedulerName: a}]", ""),
			note: "not checked: schedulerProfiles",
		},
		"manifests at an address": {
			text: steps(", systems: [{name: a, manifests: [\"https://example.org/a.yaml\"]}]", ""),
			note: "not checked: system a: whether its webhooks need probes",
		},
		"a program that isn't there": {
			text: steps(", systems: [{name: a, process: {command: [./nowhere]}}]", ""),
			err:  "find its program",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			code, _, said := command(t, "lint", file(t, test.text))
			if want := map[bool]int{true: cli.ExitOK, false: cli.ExitInput}[test.err == ""]; code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
			if notes := strings.Count(said, "not checked: "); !strings.Contains(said, test.err) ||
				!strings.Contains(said, test.note) || (notes > 0) != (test.note != "") {
				t.Errorf("no %q or %q in:\n%s", test.err, test.note, said)
			}
			if strings.Contains(said, "covers no requirement") {
				t.Error("it is as strict as with --strict")
			}
		})
	}
}
