package writes

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestDifferences(t *testing.T) {
	got := metav1.Status{
		Code: 422, Reason: "Invalid",
		Message: `Service "9-web" is invalid: metadata.name: Invalid value: "9-web": a DNS-1035 label must`,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			{Type: "FieldValueInvalid", Field: "metadata.name", Message: "a DNS-1035 label must consist of"},
			{Type: "FieldValueRequired", Field: "spec.ports", Message: "Required value"},
		}},
	}
	contains := func(text string) *scenarios.Text { return &scenarios.Text{Contains: text} }
	for name, test := range map[string]struct {
		want   scenarios.Rejection
		differ []string
	}{
		"nothing asked": {scenarios.Rejection{}, nil},
		"all as wanted": {scenarios.Rejection{
			Code: 422, Reason: "Invalid", Field: "metadata.name",
			Message: contains("DNS-1035"),
		}, nil},
		"code": {scenarios.Rejection{Code: 403}, []string{"code:\n  want 403\n  got  422"}},
		"reason": {
			scenarios.Rejection{Reason: "Forbidden"},
			[]string{"reason:\n  want Forbidden\n  got  Invalid"},
		},
		"field": {
			scenarios.Rejection{Field: "spec.type"},
			[]string{"field:\n  want spec.type\n  got  metadata.name, spec.ports"},
		},
		"message of status": {scenarios.Rejection{Message: contains(`Service "9-web"`)}, nil},
		"message of a cause": {
			scenarios.Rejection{Field: "spec.ports", Message: &scenarios.Text{Equals: "Required value"}},
			nil,
		},
		"of another cause": {scenarios.Rejection{
			Field:   "metadata.name",
			Message: &scenarios.Text{Equals: "Required value"},
		}, []string{"message:"}},
		"cause without field": {
			scenarios.Rejection{Message: &scenarios.Text{Equals: "Required value"}},
			[]string{"message:"},
		},
		"message matches": {scenarios.Rejection{Message: &scenarios.Text{Matches: `^Service ".+" is invalid`}}, nil},
		"message lacks":   {scenarios.Rejection{Message: &scenarios.Text{Lacks: "Pod"}}, nil},
		"message does not": {
			scenarios.Rejection{Message: &scenarios.Text{Contains: "Service", Lacks: "is invalid"}},
			[]string{"message:"},
		},
		"bad pattern": {scenarios.Rejection{Message: &scenarios.Text{Matches: `(`}}, []string{"message:"}},
		"all differ": {
			scenarios.Rejection{Code: 400, Reason: "BadRequest", Field: "x", Message: contains("y")},
			[]string{"code:", "reason:", "field:", "message:"},
		},
		"causes, any order": {scenarios.Rejection{Causes: []scenarios.Cause{
			{Field: "spec.ports"},
			{Reason: "FieldValueInvalid"},
		}}, nil},
		"causes, one for two": {
			scenarios.Rejection{Causes: []scenarios.Cause{{Field: "spec.ports"}, {Field: "spec.ports"}}},
			[]string{"causes:"},
		},
		"causes, one left":     {scenarios.Rejection{Causes: []scenarios.Cause{{Field: "spec.ports"}}}, []string{"causes:"}},
		"causes, greedy fails": {scenarios.Rejection{Causes: []scenarios.Cause{{}, {Field: "metadata.name"}}}, nil},
		"by":                   {scenarios.Rejection{By: "schema"}, nil},
		"by another":           {scenarios.Rejection{By: "webhook"}, []string{"by:\n  want webhook\n  got  schema"}},
		"any of, the second": {
			scenarios.Rejection{AnyOf: []scenarios.Rejection{{Code: 403}, {Code: 422, By: "schema"}}},
			nil,
		},
		"any of, none whole": {scenarios.Rejection{AnyOf: []scenarios.Rejection{
			{Code: 422, By: "webhook"},
			{Code: 403, By: "schema"},
		}}, []string{"anyOf: no alternative matches:"}},
		"any of, and beside": {scenarios.Rejection{Reason: "Forbidden", AnyOf: []scenarios.Rejection{
			{Code: 422},
			{Code: 403},
		}}, []string{"reason:"}},
		"causes, none wanted": {scenarios.Rejection{Causes: []scenarios.Cause{}}, []string{"causes:"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := differences(test.want, got)
			if len(found) != len(test.differ) {
				t.Fatalf("got %d differences, want %d:\n%s", len(found), len(test.differ), strings.Join(found, "\n"))
			}
			for i, want := range test.differ {
				if !strings.HasPrefix(found[i], want) {
					t.Errorf("difference %d is\n%s\nwant it to begin with\n%s", i, found[i], want)
				}
			}
		})
	}
}

func TestDifferencesWithoutDetails(t *testing.T) {
	found, _ := differences(scenarios.Rejection{Field: "spec"}, metav1.Status{Code: 403})
	if len(found) != 1 || !strings.Contains(found[0], "got  (none)") {
		t.Errorf("got %q", found)
	}
}

func TestAnyOfSaysWhichAndWhyNot(t *testing.T) {
	got := metav1.Status{Code: 403, Reason: "Forbidden", Message: `admission webhook "x.y.z" denied the request: no`}
	want := scenarios.Rejection{AnyOf: []scenarios.Rejection{{Code: 422, By: "schema"}, {Code: 403, By: "webhook"}}}
	if problems, met := differences(want, got); len(problems) > 0 || met != "alternative 2 of 2 (code 403, by webhook)" {
		t.Errorf("met %q with %q", met, problems)
	}
	want.AnyOf[1].Message = &scenarios.Text{Contains: "lowercase"}
	problems, met := differences(want, got)
	if met != "" || len(problems) != 1 {
		t.Fatalf("met %q with %q", met, problems)
	}
	wanted := `anyOf: no alternative matches:
  alternative 1 of 2 (code 422, by schema):
    code:
      want 422
      got  403
    by:
      want schema
      got  webhook x.y.z
  alternative 2 of 2 (code 403, by webhook, a message that contains "lowercase"):
    message:
      want contains "lowercase"
      got  "admission webhook \"x.y.z\" denied the request: no"`
	if problems[0] != wanted {
		t.Errorf("got\n%s\nwant\n%s", problems[0], wanted)
	}
}

// A text that the message of a field must lack is in none of the field's causes.
func TestLacksCountsForEachCause(t *testing.T) {
	got := metav1.Status{Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
		{Field: "spec.x", Message: "too long"},
		{Field: "spec.x", Message: "denied by a webhook"},
		{Field: "spec.y", Message: "denied by a policy"},
	}}}
	for text, want := range map[string]int{"webhook": 1, "policy": 0} {
		wanted := scenarios.Rejection{Field: "spec.x", Message: &scenarios.Text{Lacks: text}}
		if found, _ := differences(wanted, got); len(found) != want {
			t.Errorf("lacks %q: %q, want %d differences", text, found, want)
		}
	}
}
