package survey_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// Changes to a cluster between two surveys stand for the effects of an upgrade. Exactly the expected checks of the
// second survey catch each fault. The survey itself stores nothing.
func TestEachFaultIsCaughtByItsCheck(t *testing.T) {
	two := 2
	cluster := clustertest.Create(t, clustertest.Local(t), "survey", clusters.State{
		Version: "1.36",
		Nodes:   []clusters.NodeGroup{{Count: &two}},
	})
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	golden.Must(t, err)
	s, err := survey.New(cluster.RESTConfig(), survey.Options{Settle: time.Second, Progress: t.Logf})
	golden.Must(t, err)
	defer s.Close()
	var faulty atomic.Bool
	create(t, client, definitions(converter(t, &faulty)))
	all := faults()
	for _, f := range all {
		served(t, client, f)
		s.Add(create(t, client, f.manifest())...)
		f.patched(t, client, f.before)
	}
	golden.Must(t, s.Still(t.Context()))
	visit := func(between func()) {
		t.Helper()
		since, err := s.Begin(t.Context())
		golden.Must(t, err)
		between()
		_, err = s.At(t.Context(), since)
		golden.Must(t, err)
	}
	visit(func() {})
	visit(func() {})
	visit(func() {
		faulty.Store(true) // the restart empties the API server's cache of converted objects
		golden.Must(t, cluster.Restart(t.Context(), clusters.APIServer))
		for _, f := range all {
			f.happen(t, client)
		}
		enforced(t, client)
	})
	r := &upgrades.Report{Path: []*upgrades.State{
		{Name: "a", Way: upgrades.Start, Reached: true},
		{Name: "b", Way: upgrades.Up, Reached: true},
		{Name: "c", Way: upgrades.Up, Reached: true},
	}}
	s.Judge(r)
	caught := map[string][]string{}
	for _, f := range r.Findings {
		if f.State != 2 {
			t.Errorf("a finding before any fault: %+v", f)
		}
		for _, o := range f.Objects {
			_, name, _ := strings.Cut(o.Name, "/")
			if f.Severity != upgrades.Breaks {
				caught[name] = append(caught[name], string(f.Severity))
			}
			caught[name] = append(append(caught[name], f.Check), f.Checks...)
		}
	}
	alone := map[string]bool{"update": true}
	for _, f := range all {
		if got := strings.Join(caught[f.name], " "); got != f.want {
			t.Errorf("%s: caught by %q, want %q", f.name, got, f.want)
		}
		alone[strings.TrimPrefix(f.want, "changes ")] = true
	}
	for _, check := range survey.Checks() {
		if !alone[string(check)] {
			t.Errorf("there is no fault that only %s catches", check)
		}
	}
	still, err := resource(client, "ConfigMap").Get(t.Context(), "still", metav1.GetOptions{})
	if err != nil || len(still.GetLabels()) > 0 || len(still.GetManagedFields()) != 1 {
		t.Errorf("the survey stored something: %v %v", still, err)
	}
}

// manifest returns the YAML of a fault's object.
func (f fault) manifest() string {
	if strings.Contains(f.object, "metadata: {finalizers") {
		return strings.Replace(f.object, "metadata: {", "metadata: {name: "+f.name+", ", 1)
	}
	return strings.Replace(f.object, "{", "{metadata: {name: "+f.name+"}, ", 1)
}

func (f fault) kind() string {
	_, rest, _ := strings.Cut(f.object, "kind: ")
	kind, _, _ := strings.Cut(rest, ",")
	return kind
}

func (f fault) patched(t *testing.T, client dynamic.Interface, patch string) {
	t.Helper()
	if patch == "" {
		return
	}
	var subresources []string
	if rest, ok := strings.CutPrefix(patch, "status "); ok {
		patch, subresources = rest, []string{"status"}
	}
	_, err := resource(client, f.kind()).Patch(t.Context(), f.name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...)
	golden.Must(t, err)
}

// happen makes the fault happen. Its policies take effect later: see enforced.
func (f fault) happen(t *testing.T, client dynamic.Interface) {
	t.Helper()
	f.patched(t, client, f.after)
	if f.deletes {
		golden.Must(t, resource(client, f.kind()).Delete(t.Context(), f.name, metav1.DeleteOptions{}))
	}
	if f.deletesPod {
		pods := resource(client, "Pod")
		list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b"})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%v; want two pods", err)
		}
		golden.Must(t, pods.Delete(t.Context(), list.Items[0].GetName(), metav1.DeleteOptions{}))
	}
	if f.kind() == "Forgotten" {
		_, err := resource(client, "CustomResourceDefinition").Patch(t.Context(), "forgottens.example.com",
			types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/versions/0/served","value":false},`+
				`{"op":"replace","path":"/spec/versions/1/served","value":false}]`), metav1.PatchOptions{})
		golden.Must(t, err)
		for {
			_, err := resource(client, f.kind()).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				break
			}
			wait()
		}
	}
	if policies := f.policies(); policies != "" {
		create(t, client, policies)
	}
}

// served waits until the kind of a fault's object is served.
func served(t *testing.T, client dynamic.Interface, f fault) {
	t.Helper()
	for t.Context().Err() == nil {
		if _, err := resource(client, f.kind()).List(t.Context(), metav1.ListOptions{}); err == nil {
			return
		}
		wait()
	}
}

// enforced waits until the policies take effect. It creates two more, and polls until these do. No event reports it.
func enforced(t *testing.T, client dynamic.Interface) {
	t.Helper()
	last := fault{
		name: "last", object: `{apiVersion: v1, kind: ConfigMap, data: {a: b}}`, on: "CREATE", resource: "configmaps",
		must: "false",
	}
	mutated := fault{name: "mutated", object: last.object, patch: `{op: "replace", path: "/data/a", value: "x"}`}
	create(t, client, mutated.manifest()+"\n---\n"+mutated.policies()+"\n---\n"+last.policies())
	maps := resource(client, "ConfigMap")
	for t.Context().Err() == nil {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "last"},
		}}
		if _, err := maps.Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			break
		}
		wait()
	}
	for t.Context().Err() == nil {
		o, err := maps.Patch(t.Context(), "mutated", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		golden.Must(t, err)
		if a, _, _ := unstructured.NestedString(o.Object, "data", "a"); a == "x" {
			return
		}
		wait()
	}
}

// wait is the pause of a poll. Only the test's own timeout ends a poll.
func wait() { time.Sleep(20 * time.Millisecond) }

// resource returns a client for a kind, in namespace default if the kind is namespaced.
func resource(client dynamic.Interface, kind string) dynamic.ResourceInterface {
	of, version, namespaced := "example.com", "v1", true
	switch kind {
	case "ConfigMap", "Service", "Pod":
		of = ""
	case "ReplicaSet":
		of = "apps"
	case "CustomResourceDefinition":
		of, namespaced = "apiextensions.k8s.io", false
	case "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding":
		of, namespaced = "admissionregistration.k8s.io", false
	}
	plural := strings.ToLower(kind) + "s"
	if strings.HasSuffix(kind, "Policy") {
		plural = strings.TrimSuffix(strings.ToLower(kind), "y") + "ies"
	}
	api := client.Resource(schema.GroupVersionResource{Group: of, Version: version, Resource: plural})
	if namespaced {
		return api.Namespace("default")
	}
	return api
}

func create(t *testing.T, client dynamic.Interface, text string) []survey.Created {
	t.Helper()
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(text)}.Load()
	golden.Must(t, err)
	var created []survey.Created
	for _, o := range objects {
		stored, err := resource(client, o.GVK().Kind).Create(t.Context(), o.Content, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(fmt.Errorf("create %s: %w", o, err))
		}
		created = append(created, survey.Created{Object: o, Namespace: "default", UID: string(stored.GetUID())})
	}
	return created
}
