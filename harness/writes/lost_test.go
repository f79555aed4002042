package writes_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// A rejected retry of an apply says nothing about what an earlier apply stored.
func TestApplyThatIsRejectedWhenItIsSentAgain(t *testing.T) {
	webhook := apitest.Status(500, "InternalError", `Internal error occurred: failed calling webhook "x": EOF`)
	for name, test := range map[string]struct {
		applied bool // an earlier apply made the object
		first   apitest.Fault
		status  reports.Status
		says    string
	}{
		"a webhook could not be called": {true, apitest.Fault{Status: webhook}, reports.Failed, "422 Invalid"},
		"overloaded": {
			true, apitest.Fault{Code: 429, Text: "Too many requests, please try again later."}, reports.Failed, "422 Invalid",
		},
		"unavailable": {
			true,
			apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "starting")},
			reports.Error, "unknown whether anything was stored",
		},
		"reset, not stored":      {true, apitest.Fault{}, reports.Error, "422 Invalid"},
		"reset, stored":          {true, apitest.Fault{Stored: true}, reports.Error, "422 Invalid"},
		"reset, nothing there":   {false, apitest.Fault{}, reports.Failed, "422 Invalid"},
		"reset, made the object": {false, apitest.Fault{Stored: true}, reports.Error, "422 Invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			s := newSender(t, server)
			if test.applied {
				if got := s.do(t.Context(), scenarios.Step{Apply: configMap("web", nil)}); got.Status != reports.Passed {
					t.Fatal(got.Message)
				}
			}
			if n := server.Requests("get", "ConfigMap"); n != 0 {
				t.Errorf("an apply with a clear answer read the object %d times", n)
			}
			first := server.Requests("apply", "ConfigMap") + 1
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Verb != "apply":
					return nil
				case r.Number == first:
					return &test.first
				}
				return &apitest.Fault{Status: invalid()}
			})
			got := s.do(t.Context(), scenarios.Step{Apply: configMap("web", map[string]any{"x": "bad"})})
			if got.Status != test.status || !strings.Contains(got.Message, test.says) {
				t.Errorf("got %s, want %s and %q:\n%s", got.Status, test.status, test.says, got.Message)
			}
		})
	}
}

func removal(rejected *scenarios.Rejection) scenarios.Step {
	step := scenarios.Step{Delete: &scenarios.Delete{ObjectReference: scenarios.ObjectReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: "web",
	}}}
	if rejected != nil {
		step.Expect = &scenarios.Expect{Rejected: rejected}
	}
	return step
}

// deleteAs deletes an object as another client.
func (s *sender) deleteAs(t *testing.T, name string) {
	t.Helper()
	api := s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("ns")
	if err := api.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// It is unknown who removed an object while a removal was rejected, or its answer was lost, if the object's owner or
// another write of the step may have done so.
func TestObjectThatIsGoneMeanwhile(t *testing.T) {
	owned := []any{map[string]any{
		"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u", "controller": true,
	}}
	no := apitest.Fault{Status: apitest.Status(403, "Forbidden", "no")}
	for name, test := range map[string]struct {
		owners []any
		step   scenarios.Step
		first  apitest.Fault
		status reports.Status
		says   string
	}{
		"rejected, nobody owns it": {
			nil, removal(&scenarios.Rejection{Code: 403}), no, reports.Failed, "was rejected, but it was stored",
		},
		"rejected, owned": {
			owned, removal(&scenarios.Rejection{Code: 403}), no, reports.Error, "its owner is ReplicaSet rs",
		},
		"lost, nobody owns it":         {nil, removal(nil), apitest.Fault{}, reports.Passed, ""},
		"lost, owned, as it should be": {owned, removal(nil), apitest.Fault{}, reports.Passed, ""},
		"lost, and should be rejected": {
			nil, removal(&scenarios.Rejection{}), apitest.Fault{}, reports.Failed, "was accepted",
		},
		"lost, owned, should be rejected": {
			owned, removal(&scenarios.Rejection{}), apitest.Fault{}, reports.Error, "was lost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			s := newSender(t, server)
			object := stored("web", "ns")
			if test.owners != nil {
				object["metadata"].(map[string]any)["ownerReferences"] = test.owners
			}
			server.Put("configmaps", object)
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				if r.Verb == "delete" && r.Number == 1 {
					s.deleteAs(t, "web") // the second deletion, as far as the server knows
					return &test.first
				}
				return nil
			})
			got := s.do(t.Context(), test.step)
			if got.Status != test.status || !strings.Contains(got.Message, test.says) {
				t.Errorf("got %s, want %s and %q:\n%s", got.Status, test.status, test.says, got.Message)
			}
		})
	}
}

// Of several deletions of one object, one whose first answer was lost does not claim another one's deletion.
func TestLostAnswerAmongDeletions(t *testing.T) {
	for name, test := range map[string]struct {
		first  apitest.Fault // of the first deletion that the server gets
		expect int
		status reports.Status
	}{
		"refused":                      {apitest.Fault{Code: 429, Text: "Too many requests"}, 1, reports.Passed},
		"lost, one should win":         {apitest.Fault{}, 1, reports.Error},
		"lost, two should win":         {apitest.Fault{}, 2, reports.Error},
		"lost, three cannot":           {apitest.Fault{}, 3, reports.Failed},
		"lost, but none should":        {apitest.Fault{}, 0, reports.Failed},
		"won and lost, one should win": {apitest.Fault{Stored: true}, 1, reports.Error},
		"won and lost, two cannot":     {apitest.Fault{Stored: true}, 2, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			server.Put("configmaps", stored("web", "ns"))
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				if r.Verb != "delete" {
					return nil
				}
				for (r.Number == 1) != test.first.Stored && server.Count("configmaps") > 0 {
					runtime.Gosched() // another deletion is first
				}
				if r.Number == 1 {
					return &test.first
				}
				return nil
			})
			got := newSender(t, server).atOnce(t.Context(), &scenarios.ParallelExpect{
				Accepted: count(test.expect), Rejected: &scenarios.Rejection{Code: 404},
			}, removal(nil), removal(nil))
			if got.Status != test.status || server.Count("configmaps") != 0 {
				t.Errorf("got %s, want %s:\n%s", got.Status, test.status, got.Message)
			}
		})
	}
}

// A webhook may choose 409 for its rejection. That does not mean that the object was replaced meanwhile.
func TestDeleteThatAWebhookRejectsAsAConflict(t *testing.T) {
	server := apitest.New(t)
	server.Put("configmaps", stored("web", "ns"))
	server.Misbehave(only("delete", 1, apitest.Fault{
		Status: apitest.Status(409, "Conflict", `admission webhook "x" denied the request: in use`),
	}))
	got := newSender(t, server).do(t.Context(), removal(&scenarios.Rejection{Code: 409, By: scenarios.ByWebhook}))
	if n := server.Requests("delete", "ConfigMap"); got.Status != reports.Passed || n != 1 {
		t.Errorf("got %s after %d deletions: %s", got.Status, n, got.Message)
	}
}

// A deletion is sent again if another object has taken the object's place since it was read.
func TestDeleteOfAnObjectThatWasReplaced(t *testing.T) {
	server := apitest.New(t)
	server.Put("configmaps", stored("web", "ns"))
	s := newSender(t, server)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "delete" && r.Number == 1 {
			s.deleteAs(t, "web")
			server.Put("configmaps", stored("web", "ns"))
		}
		return nil
	})
	got := s.do(t.Context(), removal(nil))
	if got.Status != reports.Passed || server.Count("configmaps") != 0 || len(s.attempts) != 1 ||
		!strings.Contains(s.attempts[0], "another client wrote") {
		t.Errorf("got %s after %q: %s", got.Status, s.attempts, got.Message)
	}
}
