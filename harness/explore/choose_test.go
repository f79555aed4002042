package explore

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

func TestObjectsThatStatesDisagreeOnCrossFirst(t *testing.T) {
	kind := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Box"}}
	one := func(role growth.Role, value string, a, b bool) *entry {
		return &entry{
			Specimen: &growth.Specimen{
				Kind: kind, Role: role, Field: "spec.a", Owner: "a", Value: value,
				Body: fmt.Appendf(nil, `{"spec":{"a":%q}}`, value),
			},
			verdicts: map[string]verdict{"a": {accepted: a}, "b": {accepted: b}},
		}
	}
	e := &exploration{Options: Options{Objects: 2}, report: &explorations.Report{}}
	e.corpus = []*entry{
		one(growth.Minimal, "", true, true), one(growth.Border, "1", true, true), one(growth.Border, "2", false, true),
		one(growth.Border, "3", false, false), one(growth.Border, "", false, true),
	}
	dropped := one(growth.Border, "4", false, true)
	dropped.verdicts["b"] = verdict{accepted: true, lost: "spec.a"}
	e.corpus = append(e.corpus, dropped)
	chosen := e.choose()
	if len(chosen) != 2 || chosen[0].Value != "2" || chosen[1].Role != growth.Minimal || len(e.report.Untried) != 1 {
		t.Errorf("%d cross, %v", len(chosen), e.report.Untried)
	}
	const note = "2 objects did not cross, because they lose a field in each state that accepts them"
	if !slices.Contains(e.report.Notes, note) {
		t.Errorf("notes %q", e.report.Notes)
	}
}

func TestTheFirstObjectOfEachShapeCrossesBeforeTheOthers(t *testing.T) {
	one := func(kind string, role growth.Role, field, value string, disputed bool) *entry {
		return &entry{
			Specimen: &growth.Specimen{
				Kind: &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}},
				Role: role, Field: field, Owner: "PodSpec.a", Value: value, Body: []byte("{}"),
			},
			verdicts: map[string]verdict{
				"a": {accepted: true}, "b": {accepted: !disputed, why: "FieldValueInvalid " + field},
			},
		}
	}
	e := &exploration{Options: Options{Objects: 6}, report: &explorations.Report{}}
	for _, value := range []string{"1", "2", "3"} {
		e.corpus = append(e.corpus,
			one("Deployment", growth.Border, "spec.template.spec.a", value, true),
			one("Job", growth.Border, "spec.template.spec.a", value, true),
			one("Deployment", growth.Alone, "spec.template.spec.a", value, false),
			one("Job", growth.Alone, "spec.template.spec.a", value, false),
			one("Pod", growth.Alone, "spec.a", value, false),
			one("Pod", growth.Choice, "spec.a", value, false),
		)
	}
	var got []string
	for _, one := range e.choose() {
		field := "template"
		if one.Kind.Kind == "Pod" {
			field = "Pod"
		}
		got = append(got, field+" "+string(one.Role))
	}
	slices.Sort(got)
	want := []string{
		"Pod alone", "Pod choice", "Pod choice", "template alone", "template border", "template border",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q cross, want %q", got, want)
	}
}

func TestObjectsAreCreatedWhereNoFieldIsDropped(t *testing.T) {
	path := []clusters.State{{Version: "1.34.4"}, {Version: "1.35.4"}, {Version: "1.36.3"}}
	dropped, whole, rejected := verdict{accepted: true, lost: "spec.a"}, verdict{accepted: true}, verdict{}
	for _, test := range []struct {
		verdicts [3]verdict
		want     string
	}{
		{[3]verdict{whole, whole, whole}, "1.34.4"},
		{[3]verdict{dropped, whole, whole}, "1.35.4"},
		{[3]verdict{rejected, dropped, dropped}, "1.35.4"},
		{[3]verdict{rejected, rejected, whole}, "1.36.3"},
		{[3]verdict{rejected, rejected, rejected}, ""},
	} {
		one := &entry{verdicts: map[string]verdict{}}
		for i, v := range test.verdicts {
			one.verdicts[nameOf(path[i])] = v
		}
		if got := one.born(path); got != test.want {
			t.Errorf("%v: created at %q, want %q", test.verdicts, got, test.want)
		}
	}
}

func TestTwinsCrossIfThePathHasMoreThanTwoStates(t *testing.T) {
	of := func(role growth.Role, name string) *entry {
		kind := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}
		return &entry{
			Specimen: &growth.Specimen{Kind: kind, Role: role, Field: name, Body: []byte("{}")},
			verdicts: map[string]verdict{"1.34.4": {accepted: true}},
		}
	}
	for _, test := range []struct{ states, want int }{{2, 0}, {3, 1}} {
		e := &exploration{report: &explorations.Report{}}
		for range test.states {
			e.Path = append(e.Path, clusters.State{Version: "1.34.4"})
		}
		e.corpus = []*entry{of(growth.Alone, "a"), of(growth.Alone, "b"), of(growth.Minimal, ""), of(growth.Whole, "")}
		twins := 0
		for _, one := range e.choose() {
			if one.written {
				twins++
			}
		}
		if twins != test.want {
			t.Errorf("a path of %d states: %d twins, want %d", test.states, twins, test.want)
		}
	}
}
