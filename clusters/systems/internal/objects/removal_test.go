package objects

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	fakediscovery "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// removable are the resources of the objects below, by their groups.
var removable = map[string][]metav1.APIResource{
	"":                   {{Name: "namespaces", Kind: "Namespace"}, {Name: "serviceaccounts", Kind: "ServiceAccount"}},
	"apps":               {{Name: "deployments", Kind: "Deployment"}},
	CRDKind.Group:        {{Name: crdResource.Resource, Kind: CRDKind.Kind}},
	APIServiceKind.Group: {{Name: apiServiceResource.Resource, Kind: APIServiceKind.Kind}},
	"admissionregistration.k8s.io": {{
		Name: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration",
	}},
}

// one is the reference of an object.
func one(group, kind, name string) Reference {
	return Reference{Kind: schema.GroupKind{Group: group, Kind: kind}, Version: "v1", Name: name}
}

// stuckAPI is a cluster in memory with these objects. It does not remove those whose name is "stuck", and rejects
// deletions after the end of the context. deleted are the names in deletions, in order.
func stuckAPI(ctx context.Context, t *testing.T, objects ...Reference) (c *Client, deleted *[]string) {
	t.Helper()
	scheme := runtime.NewScheme()
	golden.Must(t, metav1.AddMetaToScheme(scheme))
	var there []runtime.Object
	for _, r := range objects {
		there = append(there, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: r.Kind.WithVersion("v1").GroupVersion().String(), Kind: r.Kind.Kind},
			ObjectMeta: metav1.ObjectMeta{Name: r.Name, Finalizers: []string{"test.rehearse.dev/never"}},
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
	crd := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Terminating", "reason": "InstanceDeletionFailed"},
		}},
	}}
	crd.SetGroupVersionKind(CRDKind.WithVersion("v1"))
	crd.SetName("stuck")
	crd.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
	return &Client{
		metadata: client, mapper: mapper, dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), crd),
	}, deleted
}

// A CRD that stays, because nobody removes the finalizers of its objects, does not keep the other objects. All of the
// system's last objects are deleted, in this order.
func TestRemovalWithAStuckCRD(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := []Reference{
			one("", "Namespace", "ns"), one(CRDKind.Group, CRDKind.Kind, "stuck"), one("", "ServiceAccount", "a"),
			one("apps", "Deployment", "manager"), one(CRDKind.Group, CRDKind.Kind, "things"),
			one("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "hooks"),
			one(APIServiceKind.Group, APIServiceKind.Kind, "v1.x"),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		api, deleted := stuckAPI(ctx, t, objects...)
		golden.Error(t, api.DeleteAll(ctx, objects),
			"CustomResourceDefinition stuck still exists, with finalizers [test.rehearse.dev/never]")
		if got := strings.Join(*deleted, " "); got != "v1.x hooks things stuck manager a ns" {
			t.Errorf("deleted in the order %s", got)
		}
		crd, err := api.dynamic.Resource(crdResource).Get(t.Context(), "stuck", metav1.GetOptions{})
		golden.Must(t, err)
		if len(crd.GetAnnotations()) == 0 {
			t.Error("its deletion was not retried")
		}
	})
}
