package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A Job's pods get what the files of their command name, too.
func TestReferencesOfShards(t *testing.T) {
	t.Chdir("../../..")
	const systems, webhooks = "examples/operators/lws/_systems/", "examples/operators/lws/_manifests/webhooks.yaml"
	for words, want := range map[string][]string{
		"run examples/operators/lws/kubernetes.yaml":                      {systems + "lws-short-lease.yaml", webhooks},
		"explore --path 1.36 --system lws=module:" + systems + "lws.yaml": {webhooks},
		"run --focus rollback scenarios/kubernetes":                       nil,
		"faults kai --try": nil,
	} {
		got, err := referencedByShards(newRootCommand(builtin.All()), strings.Fields(words))
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %s, %v; want %s", words, got, err, want)
		}
	}
}

// A suite in a folder names files, too. A scenario out of focus may name a program that no pod has.
func TestReferencesOfOwnSuites(t *testing.T) {
	t.Chdir(t.TempDir())
	scenario := func(name, process string) string {
		return `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: ` + name + `, labels: {system: mine}}
spec:
  description: It is there.
  covers: [A-1]
  cluster: {version: "1.36", systems: [{name: op, version: v1, process: {` + process + `}}]}
  steps: [{eventually: {kind: Pod, apiVersion: v1, name: a}}]
`
	}
	golden.Write(t, "mine/requirements.yaml", "- {id: A-1, level: core, statement: It is there., source: Us}\n")
	golden.Write(t, "mine/scenarios/a.yaml", scenario("a", "command: [op], crds: [../../config/crd]"))
	golden.Write(t, "mine/scenarios/b.yaml", scenario("b", "command: [./op]"))
	for words, want := range map[string]string{
		"conformance ./mine --focus a": "", "conformance ./mine": "the pods do not get the program",
		"faults ./mine --try": "the pods do not get the program",
	} {
		got, err := referencedByShards(newRootCommand(builtin.All()), strings.Fields(words))
		golden.Error(t, err, want)
		if want == "" && !slices.Equal(got, []string{"config/crd"}) {
			t.Errorf("%s: %s", words, got)
		}
	}
}

// A Job's pods get the files that their command names. A command that cannot run as a shard is rejected at once.
func TestCommandsOfShards(t *testing.T) {
	for _, c := range []struct {
		command string
		paths   []string
		err     string
	}{
		{"run a.yaml b --timings run.json", []string{"a.yaml", "b", "run.json"}, ""},
		{
			"run a.yaml --system kai=module:kai.yaml --system kai/older=process:old.yaml --system kai=faults:x " +
				"--system lws=simulated:lws.yaml",
			[]string{"a.yaml", "kai.yaml", "old.yaml", "lws.yaml"},
			"",
		},
		{"run -", nil, "a pod has no standard input"},
		{"run --shard 1/2 a.yaml", nil, "--shard: leave it out"},
		{"run --provider kind a.yaml", nil, "--provider kind: a pod supports only local clusters"},
		{"conformance kai", nil, ""},
		{"conformance ./mine --timings run.json", []string{"run.json", "./mine"}, ""},
		{
			"conformance kai --system kai=process:kai.yaml --system kai/older=manifests:old.yaml --system kai=faults:x " +
				"--system kai/oldest=module:oldest.yaml",
			[]string{"kai.yaml", "old.yaml", "oldest.yaml"},
			"",
		},
		{"conformance", nil, "name one suite"},
		{"conformance kai porch", nil, "name one suite"},
		{"conformance kai --output report.yaml", nil, "--output: leave it out"},
		{"conformance kai --repeat 3", nil, "--repeat: leave it out"},
		{"conformance diff a b", nil, "rehearse conformance diff cannot run as a Job"},
		{"faults kai --try", nil, ""},
		{"faults kai", nil, "without --try there is nothing to run"},
		{"faults kai --try --report-dir x", nil, "--report-dir: leave it out"},
		{"faults", nil, "name one suite"},
		{"explore --path 1.34,1.35 --known k.yaml --crds a --crds b", []string{"k.yaml", "a", "b"}, ""},
		{
			"explore --path 1.34,1.35 --system op=process:op.yaml --upgrade op=process:op-2.yaml",
			[]string{"op.yaml", "op-2.yaml"},
			"",
		},
		{"explore --path 1.34,1.35 --plan", nil, "--plan: leave it out"},
		{"upgrade --from 1.34 --to 1.35 -f a.yaml", nil, "rehearse upgrade cannot run as a Job"},
	} {
		paths, err := pathsOfShards(newRootCommand(builtin.All()), strings.Fields(c.command))
		if !slices.Equal(paths, c.paths) || (err == nil) != (c.err == "") || err != nil &&
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.command, paths, err, c.paths, c.err)
		}
	}
}
