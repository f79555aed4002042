package survey_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/clustertest"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

const surveyed = `
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {a: b}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: still}, data: {a: b}}
---
{apiVersion: v1, kind: Secret, metadata: {name: policed}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: thinned}, data: {a: b, lost: c}}
`

// policy refuses every write of Secrets, and takes data out of a ConfigMap whenever it is updated.
const policy = `
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: thin}, spec: {reinvocationPolicy: Never, matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps], resourceNames: [thinned]}]}, mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "remove", path: "/data/lost"}]'}}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: thin}, spec: {policyName: thin}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: never}, spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}]}, validations: [{expression: "false", message: never}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: never}, spec: {policyName: never, validationActions: [Deny]}}
`

// What somebody does to a cluster between two surveys stands for what an upgrade may do: the second survey shows all of
// it, nothing else, and has stored nothing itself.
func TestSurveyShowsWhatHappened(t *testing.T) {
	two := 2
	cluster := clustertest.Create(t, clustertest.Local(t), "survey", clusters.State{
		Version: "1.36",
		Nodes:   []clusters.NodeGroup{{Count: &two}},
	})
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	s, err := survey.New(cluster.RESTConfig(), survey.Options{Settle: time.Second, Progress: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Add(create(t, client, surveyed)...)
	if err := s.Still(t.Context()); err != nil {
		t.Fatal(err)
	}
	visit := func(between func()) {
		t.Helper()
		since, err := s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		between()
		if _, err := s.At(t.Context(), since); err != nil {
			t.Fatal(err)
		}
	}
	visit(func() {})
	visit(func() {})
	visit(func() {
		pods := resource(client, "", "v1", "pods")
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%v; want two pods", err)
		}
		must(t, pods.Delete(t.Context(), list.Items[0].GetName(), metav1.DeleteOptions{}))
		must(t, resource(client, "", "v1", "configmaps").Delete(t.Context(), "gone", metav1.DeleteOptions{}))
		patch := []byte(`{"spec":{"ports":[{"port":81}]}}`)
		_, err = resource(client, "", "v1", "services").Patch(t.Context(), "web", types.MergePatchType, patch,
			metav1.PatchOptions{})
		must(t, err)
		create(t, client, policy)
		enforced(func() bool {
			secret := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret",
				"metadata": map[string]any{"name": "probe"},
			}}
			_, err := resource(client, "", "v1", "secrets").Create(t.Context(), secret,
				metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err != nil
		})
		enforced(func() bool {
			label := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
			thinned, err := resource(client, "", "v1", "configmaps").Patch(t.Context(), "thinned", types.MergePatchType, label,
				metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			must(t, err)
			_, there, _ := unstructured.NestedString(thinned.Object, "data", "lost")
			return !there
		})
	})
	r := &upgrades.Report{Path: []*upgrades.State{
		{Name: "a", Way: upgrades.Start, Reached: true},
		{Name: "b", Way: upgrades.Up, Reached: true},
		{Name: "c", Way: upgrades.Up, Reached: true},
	}}
	s.Judge(r)
	var got []string
	for _, f := range r.Findings {
		if f.State != 2 {
			t.Errorf("before anything happened: %+v", f)
		}
		got = append(got, string(f.Severity)+": "+strings.Join(append([]string{f.Check}, f.Checks...), "+")+" "+
			f.Objects[0].Name)
	}
	want := []string{
		"breaks: moved ConfigMap default/gone", "breaks: moved ReplicaSet default/web", "breaks: content Service default/web",
		"breaks: apply Service default/web", // the manifest would add its port to the other one, and neither has a name
		"breaks: update+label+apply+create Secret default/policed", "breaks: keep ConfigMap default/thinned",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	still, err := resource(client, "", "v1", "configmaps").Get(t.Context(), "still", metav1.GetOptions{})
	if err != nil || len(still.GetLabels()) > 0 || len(still.GetManagedFields()) != 1 {
		t.Errorf("the survey stored something: %v %v", still, err)
	}
}

func resource(client dynamic.Interface, group, version, name string) dynamic.ResourceInterface {
	api := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: name})
	if group == "admissionregistration.k8s.io" {
		return api
	}
	return api.Namespace("default")
}

func create(t *testing.T, client dynamic.Interface, text string) []survey.Created {
	t.Helper()
	objects, err := manifests.Load([]string{manifests.Stdin}, strings.NewReader(text))
	must(t, err)
	plurals := map[string]string{
		"ReplicaSet": "replicasets", "Service": "services", "ConfigMap": "configmaps",
		"Secret": "secrets", "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
		"ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
		"MutatingAdmissionPolicy":          "mutatingadmissionpolicies",
		"MutatingAdmissionPolicyBinding":   "mutatingadmissionpolicybindings",
	}
	var created []survey.Created
	for _, o := range objects {
		stored, err := resource(client, o.GVK().Group, o.GVK().Version, plurals[o.GVK().Kind]).Create(t.Context(), o.Content,
			metav1.CreateOptions{})
		must(t, err)
		created = append(created, survey.Created{Object: o, Namespace: "default", UID: string(stored.GetUID())})
	}
	return created
}

// enforced asks until a policy is enforced, of which no event tells; the test's own time limit ends it.
func enforced(is func() bool) {
	for !is() {
		time.Sleep(20 * time.Millisecond)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
