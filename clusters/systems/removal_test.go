package systems

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// What a simulator has created is removed, even if the simulator ends before it is ready, or never becomes ready.
func TestSimulatorThatDoesNotStart(t *testing.T) {
	for name, interrupted := range map[string]bool{"it ends": false, "it waits until the interrupt": true} {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			dir := t.TempDir()
			creates, ends := filepath.Join(dir, "creates"), filepath.Join(dir, "ends")
			for _, pipe := range []string{creates, ends} {
				golden.Must(t, syscall.Mkfifo(pipe, 0o600))
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			acted := make(chan error, 1)
			go func() { acted <- simulate(c, creates, ends, interrupted, cancel) }()
			s := newSet(t, c, Options{Simulators: Simulators{"x": {
				Command: []string{"sh", "-c", `echo > "$0"; read -r line < "$1"; exit 2`, creates, ends},
			}}})
			err := s.Converge(ctx, []clusters.System{{Name: "x", Simulated: &clusters.Simulated{}}})
			if err == nil || alive(s.system("x").process) {
				t.Errorf("got %v; its process runs: %t", err, alive(s.system("x").process))
			}
			golden.Must(t, <-acted)
			converge(t, s)
			if !slices.Equal(c.deleted, []string{crdName}) {
				t.Errorf("deleted %v, want the CRD", c.deleted)
			}
		})
	}
}

// simulate creates a CRD for a simulator when its process has started. Then it interrupts the test, or ends the
// process.
func simulate(c *fakeCluster, creates, ends string, interrupted bool, interrupt func()) error {
	if _, err := os.ReadFile(creates); err != nil { // waits for the process
		return err
	}
	c.putCRD(map[string]any{"managedFields": []any{map[string]any{"manager": "x-simulator"}}})
	if interrupted {
		interrupt()
		return nil
	}
	return os.WriteFile(ends, []byte("now\n"), 0o600)
}

// removable are the resources of the objects below, by their groups.
var removable = map[string][]metav1.APIResource{
	"":                   {{Name: "namespaces", Kind: "Namespace"}, {Name: "serviceaccounts", Kind: "ServiceAccount"}},
	"apps":               {{Name: "deployments", Kind: "Deployment"}},
	crdKind.Group:        {{Name: crdResource.Resource, Kind: crdKind.Kind}},
	apiServiceKind.Group: {{Name: apiServiceResource.Resource, Kind: apiServiceKind.Kind}},
	"admissionregistration.k8s.io": {{
		Name: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration",
	}},
}

// one is the reference of an object.
func one(group, kind, name string) reference {
	return reference{kind: schema.GroupKind{Group: group, Kind: kind}, version: "v1", name: name}
}

// stuckAPI is a cluster in memory with these objects. It does not remove those whose name is "stuck", and rejects
// deletions after the end of the context. deleted are the names in deletions, in order.
func stuckAPI(ctx context.Context, t *testing.T, objects ...reference) (a *api, deleted *[]string) {
	t.Helper()
	scheme := runtime.NewScheme()
	golden.Must(t, metav1.AddMetaToScheme(scheme))
	var there []runtime.Object
	for _, r := range objects {
		there = append(there, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: r.kind.WithVersion("v1").GroupVersion().String(), Kind: r.kind.Kind},
			ObjectMeta: metav1.ObjectMeta{Name: r.name, Finalizers: []string{"test.rehearse.dev/never"}},
		})
	}
	client := fake.NewSimpleMetadataClient(scheme, there...)
	deleted = new([]string)
	client.PrependReactor("delete", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		name := action.(clienttesting.DeleteAction).GetName()
		if ctx.Err() != nil {
			return true, nil, ctx.Err()
		}
		*deleted = append(*deleted, name)
		return name == "stuck", nil, nil
	})
	found := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	for group, resources := range removable {
		found.Resources = append(found.Resources, &metav1.APIResourceList{
			GroupVersion: schema.GroupVersion{Group: group, Version: "v1"}.String(), APIResources: resources,
		})
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	return &api{metadata: client, mapper: mapper}, deleted
}

// A CRD that stays, because nobody removes the finalizers of its objects, does not keep the other objects. All of the
// system's last objects are deleted, in this order.
func TestRemovalWithAStuckCRD(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := []reference{
			one("", "Namespace", "ns"), one(crdKind.Group, crdKind.Kind, "stuck"), one("", "ServiceAccount", "a"),
			one("apps", "Deployment", "manager"), one(crdKind.Group, crdKind.Kind, "things"),
			one("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "hooks"),
			one(apiServiceKind.Group, apiServiceKind.Kind, "v1.x"),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		api, deleted := stuckAPI(ctx, t, objects...)
		golden.Error(t, api.deleteAll(ctx, objects),
			"CustomResourceDefinition stuck still exists, with finalizers [test.rehearse.dev/never]")
		if got := strings.Join(*deleted, " "); got != "v1.x hooks things stuck manager a ns" {
			t.Errorf("deleted in the order %s", got)
		}
	})
}

// A system that cannot be removed leaves time for the others.
func TestCloseWithAStuckSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, things := one("", "Namespace", "stuck"), one(crdKind.Group, crdKind.Kind, "things")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		api, deleted := stuckAPI(ctx, t, stuck, things)
		s := &Set{
			Options: Options{Progress: t.Logf}, installer: installer{api: api}, spawner: processes.NewSpawner(),
			quit: func() {},
		}
		s.add(clusters.System{Name: "first"}, []reference{things})
		s.add(clusters.System{Name: "last"}, []reference{stuck})
		err := s.Close(ctx, true)
		golden.Error(t, err, "end system last")
		if strings.Contains(err.Error(), "end system first") || !slices.Equal(*deleted, []string{"stuck", "things"}) {
			t.Errorf("deleted %v, %v", *deleted, err)
		}
	})
}
