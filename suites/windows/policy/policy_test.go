package policy

import (
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// serves describes an API server that serves only Namespaces, or fails with an error.
type serves struct {
	discovery.ServerResourcesInterface
	err error
}

func (s serves) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case version == "v1":
		return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Kind: "Namespace"}}}, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, version)
}

// The policy rejects kinds that its API server does not serve, and returns an error if it cannot ask the API server.
func TestHandle(t *testing.T) {
	away := serves{err: apierrors.NewServiceUnavailable("it is away")}
	for name, test := range map[string]struct {
		serves serves
		kind   metav1.GroupVersionKind
		allow  bool
		code   int32
	}{
		"known":           {serves{}, metav1.GroupVersionKind{Version: "v1", Kind: "Namespace"}, true, http.StatusOK},
		"an unknown kind": {serves{}, metav1.GroupVersionKind{Version: "v1", Kind: "Node"}, false, http.StatusForbidden},
		"an unknown version": {
			serves{},
			metav1.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"},
			false,
			http.StatusForbidden,
		},
		"nobody to ask": {
			away, metav1.GroupVersionKind{Version: "v1", Kind: "Namespace"}, false, http.StatusInternalServerError,
		},
	} {
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Kind: test.kind}}
		got := judge{test.serves}.Handle(t.Context(), request)
		if got.Allowed != test.allow || got.Result.Code != test.code {
			t.Errorf("%s: allowed %t, %v", name, got.Allowed, got.Result)
		}
	}
}
