package survey

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A missing scale is a failure only for an object that had one before, not for those beside it. It is also missing if a
// state no longer serves the subresource, and so is a status.
func TestSubresourcesOfDependents(t *testing.T) {
	root := given("root")
	sized, unsized := &Target{
		GVK: ofGroup("example.com", "Member"), Name: "sized", UID: "sized", Root: root, template: "sized",
	}, &Target{GVK: ofGroup("example.com", "Member"), Name: "unsized", UID: "unsized", Root: root, template: "unsized"}
	found := observationOf(nil)
	for _, member := range []*Target{sized, unsized} {
		found.add(member.GVK, member.UID, "root", nil)
	}
	kind := found.Kinds[sized.GVK.GroupKind()]
	statusIn := kind.Versions
	found.targets = []*Target{sized, unsized}
	lost := false
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if get, ok := action.(clienttesting.GetAction); ok && action.GetSubresource() == "scale" &&
			(get.GetName() == "unsized" || lost) {
			return true, nil, apierrors.NewInternalError(errors.New(`the spec replicas field ".spec.replicas" does not exist`))
		}
		return true, &unstructured.Unstructured{Object: map[string]any{}}, nil
	})
	s := &Survey{
		client: client, targets: []*Target{root}, had: map[string]subresources{}, answers: answers{series: map[key]*Series{}},
	}
	for state, want := range []Answer{Good, Good, Bad, Bad} {
		s.state, lost = state, want == Bad
		kind.Scalable, kind.StatusIn = state < 3, nil
		if state < 2 {
			kind.StatusIn = statusIn
		}
		s.probeAll(t.Context(), found)
		for _, check := range []Check{Scale, Status} {
			series := s.series[key{root, sized.GVK.GroupKind(), check}]
			if series == nil || series.Outcomes[state].Answer != want {
				t.Errorf("%s, state %d: %+v, want answer %d", check, state, series, want)
			}
		}
	}
}
