package nodes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// What the simulated kubelets do with pods, in this order: the pod, and what is written.
func TestPodStages(t *testing.T) {
	all, err := stages()
	golden.Must(t, err)
	pods, err := lifecycle.NewLifecycle(all[internalversion.StageResourceRef{APIGroup: "v1", Kind: "Pod"}])
	golden.Must(t, err)
	renderer := gotpl.NewRenderer(gotpl.FuncMap{
		"Now":         func() string { return "2026-01-02T03:04:05Z" },
		"NodeIPsWith": func(string) []string { return []string{"198.18.0.1"} },
		"PodIPsWith": func(string, bool, string, string, string) ([]string, error) {
			return []string{"10.244.0.7", "fd00::7"}, nil
		},
	})
	const started = `{phase: Running, conditions: [{type: Ready, status: "%"}]}`
	job := `{uid: u1, ownerReferences: [{kind: Job}]}`
	var out strings.Builder
	for _, test := range []struct{ name, metadata, spec, status string }{
		{"new", "{uid: u1}", "{nodeName: n}", "{phase: Pending}"},
		{
			"new, with gates and init containers", "{uid: u1}",
			`{nodeName: n, containers: [{name: c, image: i}], readinessGates: [{conditionType: example.com/g}],
			  initContainers: [{name: first, image: i}, {name: sidecar, image: i, restartPolicy: Always}]}`, "{phase: Pending}",
		},
		{"ready", "{uid: u1}", "{}", strings.ReplaceAll(started, "%", "True")},
		{"unready", "{uid: u1}", "{}", strings.ReplaceAll(started, "%", "False")},
		{
			"ready, with a closed gate", "{uid: u1}", "{readinessGates: [{conditionType: g}]}",
			`{phase: Running, conditions: [{type: Ready, status: "True"}, {type: g, status: "False"}]}`,
		},
		{
			"ready, with a closed condition that is no gate", "{uid: u1}", "{readinessGates: [{conditionType: g}]}",
			`{phase: Running, conditions: [{type: Ready, status: "True"}, {type: other, status: "False"}]}`,
		},
		{
			"unready, with a closed gate", "{uid: u1}", "{readinessGates: [{conditionType: g}]}",
			`{phase: Running, conditions: [{type: Ready, status: "False"}, {type: g, status: "False"}]}`,
		},
		{
			"unready, with an open gate", "{uid: u1}", "{readinessGates: [{conditionType: g}]}",
			`{phase: Running, conditions: [{type: g, status: "True"}, {type: Ready, status: "False"}]}`,
		},
		{"of a job, running", job, "{containers: [{name: c, image: i}]}", strings.ReplaceAll(started, "%", "True")},
		{"of a job, ended", job, "{}", `{phase: Succeeded, conditions: [{type: Ready, status: "False"}]}`},
		{"of a job, deleted early", strings.TrimSuffix(job, "}") + ", deletionTimestamp: 2026-01-02T03:04:05Z}", "{}", "{phase: Running}"},
		{"of a job, deleted later", strings.TrimSuffix(job, "}") + ", deletionTimestamp: 2026-01-02T03:04:05Z}", "{}", "{phase: Failed}"},
		{"deleted", "{uid: u1, deletionTimestamp: 2026-01-02T03:04:05Z}", "{}", "{phase: Running}"},
	} {
		pod := &corev1.Pod{}
		text := "metadata: " + test.metadata + "\nspec: " + test.spec + "\nstatus: " + test.status
		golden.Must(t, yaml.UnmarshalStrict([]byte(text), pod))
		out.WriteString("## " + test.name + "\n")
		stage, err := pods.Match(t.Context(), &lifecycle.Event{Data: pod})
		golden.Must(t, err)
		if stage == nil {
			out.WriteString("nothing\n\n")
			continue
		}
		out.WriteString(stage.Name() + "\n")
		_, err = stage.DoSteps(0, nil, pod, renderer,
			func(*internalversion.StageEvent) error { return nil },
			func() error { out.WriteString("delete\n"); return nil },
			func(patch *lifecycle.Patch) error {
				text, err := yaml.JSONToYAML(patch.Data)
				out.WriteString(string(patch.Type) + " " + patch.Subresource + "\n" + string(text))
				return err
			}, nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		out.WriteString("\n")
	}
	golden.Check(t, "testdata/stages.golden", out.String())
}
