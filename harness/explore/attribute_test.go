package explore

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

func TestObjectsOfOneShapeDependOnTheSameGates(t *testing.T) {
	on, off := clusters.State{Version: "1.36.3"}, clusters.State{
		Version: "1.36.3", FeatureGates: map[string]bool{"A": false},
	}
	one := func(kind, owner, value, lost, body string) *entry {
		return &entry{
			Specimen: &growth.Specimen{
				Kind: &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}},
				Role: growth.Border, Owner: owner, Value: value, Body: []byte(body),
			},
			verdicts: map[string]verdict{
				nameOf(on): {accepted: true}, nameOf(off): {accepted: true, lost: lost},
			},
		}
	}
	pod := one("Pod", "PodSpec.a", "1", "spec.a", "{}")
	larger := one("Deployment", "PodSpec.a", "1", "spec.template.spec.a", `{"a":1}`)
	another := one("Pod", "PodSpec.b", "1", "spec.b", "{}")
	more := one("Pod", "PodSpec.a", "2", "spec.a spec.b", "{}")
	all, alike := representatives([]*entry{larger, pod, another, more})
	if len(all) != 3 || len(alike[pod]) != 2 || alike[larger] != nil || len(alike[another]) != 1 || len(alike[more]) != 1 {
		t.Errorf("%d shapes, with the Pod's %d", len(all), len(alike[pod]))
	}

	rejected := func(role growth.Role, owner, value, why string) *entry {
		one := one("Pod", owner, value, "", "{}")
		one.Role = role
		one.verdicts[nameOf(off)] = verdict{why: why}
		return one
	}
	all, _ = representatives([]*entry{
		rejected(growth.Border, "PodSpec.a", "1", "FieldValueForbidden spec.c"),
		rejected(growth.Border, "PodSpec.b", "1", "FieldValueForbidden spec.c"),
		rejected(growth.Border, "PodSpec.a", "1", ""), rejected(growth.Border, "PodSpec.b", "1", ""),
		rejected(growth.Choice, "PodSpec.a", "A", "FieldValueNotSupported spec.a"),
		rejected(growth.Choice, "PodSpec.a", "B", "FieldValueNotSupported spec.a"),
	})
	if len(all) != 5 {
		t.Errorf("%d shapes, want 5: one for a known reason, one for each unknown one, one for each value", len(all))
	}
}

// Two gates are flipped together. Only an effect that the other gate alone does not have counts for the pair. If it is
// unknown whether it has it, the effect counts for none.
func TestAnEffectOfOneGateIsNotBlamedOnAPair(t *testing.T) {
	one := func(name string) *entry {
		return &entry{Specimen: &growth.Specimen{Kind: &fields.Kind{
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: name},
		}}}
	}
	needsBelow, needsBoth, either, unknown := one("A"), one("B"), one("C"), one("D")
	all := []*entry{needsBelow, needsBoth, either, unknown}
	yes, no := &verdict{accepted: true}, &verdict{}
	usual := []*verdict{no, no, yes, no}
	states := map[string][]*verdict{"Below": {yes, no, yes, nil}, "Above": {yes, yes, yes, yes}}
	a := &attribution{
		disposable: disposable{exploration: &exploration{report: &explorations.Report{}}}, disputed: all, usual: usual, flipped: states,
	}
	a.compare(Gate{Name: "Below"})
	a.compare(Gate{Name: "Above", Others: []string{"Below"}})
	for at, want := range []string{"[Below]", "[Above]", "[]", "[]"} {
		if got := fmt.Sprint(all[at].gates); got != want {
			t.Errorf("object %d depends on %s, want %s", at, got, want)
		}
	}
}

// An object may make the API server panic only while one gate is flipped, a state that the path does not have.
func TestAPanicWithOneFlippedGateIsAFinding(t *testing.T) {
	one := &entry{Specimen: &growth.Specimen{Kind: &fields.Kind{}}}
	e := &exploration{report: &explorations.Report{}}
	a := &attribution{disposable: disposable{exploration: e}, disputed: []*entry{one}}
	flipped := clusters.State{Version: "1.36.3", FeatureGates: map[string]bool{"A": true}}
	a.reportPanics([]*verdict{{panicked: true}}, flipped)
	if len(e.groups) != 1 || nameOf(e.groups[0].to) != nameOf(flipped) {
		t.Errorf("%d findings", len(e.groups))
	}
}

// B needs A, so both are flipped together. If the cluster does not start with A alone, it is not known which of them
// has an effect.
func TestAnEffectOfAGateThatDoesNotStartIsNotBlamedOnAnother(t *testing.T) {
	one := &entry{Specimen: &growth.Specimen{Kind: &fields.Kind{}}}
	accepts, rejects := []*verdict{{accepted: true}}, []*verdict{{}}
	cluster := &fragile{unready: errors.New("kube-apiserver exits")}
	e := &exploration{Options: Options{Provider: cluster}, report: &explorations.Report{}}
	a := &attribution{
		disposable: disposable{exploration: e, cluster: &systems.Host{Cluster: cluster}},
		disputed:   []*entry{one}, usual: rejects, flipped: map[string][]*verdict{"B": accepts},
	}
	if err := a.flip(t.Context(), Gate{Name: "A"}); !errors.Is(err, cluster.unready) { // a new cluster fails, too
		t.Errorf("got the error %v", err)
	}
	a.compare(Gate{Name: "B", Others: []string{"A"}})
	if len(one.gates) > 0 || len(e.report.Gates) > 0 || len(e.report.Unjudged) != 1 {
		t.Errorf("the object depends on %v; not judged: %q", one.gates, e.report.Unjudged)
	}
}
