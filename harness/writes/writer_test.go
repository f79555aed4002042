package writes_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func TestWrites(t *testing.T) {
	create := scenarios.Step{Create: configMap("web", map[string]any{"x": "1"})}
	update := scenarios.Step{Update: configMap("web", map[string]any{"x": "2"})}
	ofAnother := scenarios.Step{Update: configMap("web", map[string]any{"x": "2"})}
	ofAnother.Update["metadata"].(map[string]any)["uid"] = "another"
	ref := scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web"}
	patch := scenarios.Step{Patch: &scenarios.Patch{
		ObjectReference: ref,
		Merge:           map[string]any{"data": map[string]any{"x": "3"}},
	}}
	versioned := scenarios.Step{Patch: &scenarios.Patch{
		ObjectReference: ref,
		Merge:           map[string]any{"metadata": map[string]any{"resourceVersion": "1"}},
	}}
	remove := scenarios.Step{Delete: &scenarios.Delete{ObjectReference: ref}}
	with := func(step scenarios.Step, expect *scenarios.Expect) scenarios.Step {
		step.Expect = expect
		return step
	}
	apply := scenarios.Step{Apply: configMap("web", map[string]any{"x": "4"})}
	dry := func(step scenarios.Step) scenarios.Step {
		step.DryRun = true
		return step
	}
	exists := scenarios.Rejection{Code: 409, Reason: "AlreadyExists"}
	for name, test := range map[string]struct {
		step    scenarios.Step
		before  bool // the object already exists
		fault   func(apitest.Request) *apitest.Fault
		status  reports.Status
		says    []string // in the message
		attempt string   // in the first attempt
		writes  int      // how often the write was sent; default: 1
	}{
		"create accepted": {step: create, status: reports.Passed},
		"create lost, unsent": {
			step: create, fault: only("create", 1, apitest.Fault{}), status: reports.Passed,
			attempt: "unknown", writes: 2,
		},
		"create lost, stored": {
			step: create, fault: only("create", 1, apitest.Fault{Stored: true}), status: reports.Passed,
			attempt: "unknown",
		},
		"create lost, stored, but should be rejected": {
			step: with(create, reject(exists)), fault: only("create", 1, apitest.Fault{Stored: true}),
			status: reports.Failed, says: []string{"was accepted, but should have been rejected", "stored object:", `x: "1"`},
		},
		"create lost, seen late": {
			// The first read does not find the object yet: the request is still in flight.
			step: create, fault: func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Kind == "ConfigMap" && r.Verb == "create" && r.Number == 1:
					return &apitest.Fault{Stored: true}
				case r.Kind == "ConfigMap" && r.Verb == "get" && r.Number == 1:
					return &apitest.Fault{Status: apitest.Status(404, "NotFound", "not yet")}
				}
				return nil
			}, status: reports.Passed, writes: 2,
		},
		"create of what is there": {
			step: create, before: true, status: reports.Failed,
			says: []string{"was rejected, but should have been accepted", "409 AlreadyExists"},
		},
		"create of what is there, expected": {step: with(create, reject(exists)), before: true, status: reports.Passed},
		"create rejected": {
			step: create, fault: always("create", apitest.Fault{Status: invalid()}),
			status: reports.Failed, says: []string{
				"422 Invalid: data is invalid",
				"cause: FieldValueInvalid data.x: must be y",
			},
		},
		"create rejected as expected": {
			step: with(create,
				reject(scenarios.Rejection{Code: 422, Field: "data.x", Message: &scenarios.Text{Contains: "must be y"}})),
			fault: always("create", apitest.Fault{Status: invalid()}), status: reports.Passed,
		},
		"create rejected otherwise": {
			step:  with(create, reject(scenarios.Rejection{Code: 403, Field: "data.y"})),
			fault: always("create", apitest.Fault{Status: invalid()}), status: reports.Failed,
			says: []string{"want 403\n  got  422", "want data.y\n  got  data.x"},
		},
		"create rejected and yet stored": {
			step:  with(create, reject(scenarios.Rejection{Code: 422})),
			fault: always("create", apitest.Fault{Status: invalid(), Stored: true}), status: reports.Failed,
			says: []string{"was rejected, but it was stored"},
		},
		"create wrongly accepted": {
			step:   with(create, reject(scenarios.Rejection{Code: 422})),
			status: reports.Failed, says: []string{"was accepted, but should have been rejected (expected code " +
				"422)", "name: web"},
		},
		"a 500 is no rejection": {
			step:   with(create, reject(scenarios.Rejection{})),
			fault:  only("create", 1, apitest.Fault{Status: apitest.Status(500, "InternalError", "failed calling webhook")}),
			status: reports.Failed, says: []string{"was accepted"}, attempt: "failed calling webhook", writes: 2,
		},
		"a 500 that is asked for": {
			step:   with(create, reject(scenarios.Rejection{Code: 500})),
			fault:  always("create", apitest.Fault{Status: apitest.Status(500, "InternalError", "failed calling webhook")}),
			status: reports.Passed,
		},
		"a proxy's 403 is no rejection": {
			step:  with(create, reject(scenarios.Rejection{Reason: "Forbidden"})),
			fault: only("create", 1, apitest.Fault{Code: 403, Text: "no way"}), status: reports.Failed,
			says: []string{"was accepted"}, writes: 2,
		},
		"look after a rejection is tried again": {
			step: with(create, reject(scenarios.Rejection{Code: 422})), fault: func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Kind == "ConfigMap" && r.Verb == "create":
					return &apitest.Fault{Status: invalid()}
				case r.Kind == "ConfigMap" && r.Verb == "get" && r.Number < 3:
					return &apitest.Fault{}
				}
				return nil
			}, status: reports.Passed,
		},

		"update accepted":   {step: update, before: true, status: reports.Passed},
		"update of nothing": {step: update, status: reports.Failed, says: []string{"404 NotFound"}},
		"update outrun": {
			step: update, before: true,
			fault: only("update", 1, apitest.Fault{Status: apitest.Status(409, "Conflict", "modified")}), status: reports.Passed,
			attempt: "another client wrote", writes: 2,
		},
		"update rejected with the code of a conflict": {
			step: with(update, reject(scenarios.Rejection{Code: 409, By: "webhook"})), before: true,
			fault: always("update", apitest.Fault{Status: apitest.Status(409, "",
				`admission webhook "x" denied the request: frozen`)}), status: reports.Passed, writes: 1,
		},
		"patch outrun": {
			step: patch, before: true,
			fault: only("patch", 1, apitest.Fault{Status: apitest.Status(409, "Conflict", "modified")}), status: reports.Passed,
			attempt: "another client wrote", writes: 2,
		},
		"patch that names a version": {
			step: with(versioned, reject(scenarios.Rejection{Code: 409})), before: true,
			fault: always("patch", apitest.Fault{Status: apitest.Status(409, "Conflict", "modified")}), status: reports.Passed,
			writes: 1,
		},
		"update lost, stored": {
			step: update, before: true, fault: only("update", 1, apitest.Fault{Stored: true}),
			status: reports.Passed, attempt: "unknown",
		},
		"update rejected": {
			step: with(update, reject(scenarios.Rejection{Code: 422})), before: true,
			fault: always("update", apitest.Fault{Status: invalid()}), status: reports.Passed,
		},
		"update rejected and yet stored": {
			step: with(update, reject(scenarios.Rejection{Code: 422})), before: true,
			fault: always("update", apitest.Fault{Status: invalid(), Stored: true}), status: reports.Failed,
			says: []string{"but it was stored"},
		},

		"patch accepted": {step: patch, before: true, status: reports.Passed},
		"patch lost, stored": {
			step: patch, before: true, fault: only("patch", 1, apitest.Fault{Stored: true}),
			status: reports.Passed,
		},
		"patch rejected": {
			step: with(patch, reject(scenarios.Rejection{Code: 422})), before: true,
			fault: always("patch", apitest.Fault{Status: invalid()}), status: reports.Passed,
		},

		"delete":            {step: remove, before: true, status: reports.Passed},
		"delete of nothing": {step: remove, status: reports.Failed, says: []string{"404 NotFound"}},
		"delete lost, done": {
			step: remove, before: true, fault: only("delete", 1, apitest.Fault{Stored: true}),
			status: reports.Passed,
		},
		"delete lost, not done": {
			step: remove, before: true, fault: only("delete", 1, apitest.Fault{}),
			status: reports.Passed, writes: 2,
		},
		"delete rejected": {
			step: with(remove, reject(scenarios.Rejection{Code: 403})), before: true,
			fault: always("delete", apitest.Fault{Status: apitest.Status(403, "Forbidden", "no")}), status: reports.Passed,
		},
		"delete rejected and yet done": {
			step: with(remove, reject(scenarios.Rejection{Code: 403})), before: true, fault: always("delete",
				apitest.Fault{Status: apitest.Status(403, "Forbidden", "no"), Stored: true}),
			status: reports.Failed, says: []string{"was rejected, but it was stored: the object is gone"},
		},

		"dry run of a create": {step: dry(create), status: reports.Passed},
		"dry run of a create, stored": {
			step: dry(create), fault: always("create", apitest.Fault{Wet: true}),
			status: reports.Failed, says: []string{"was accepted as a dry run, but it was stored"},
		},
		"dry run of an apply": {step: dry(apply), before: true, status: reports.Passed},
		"dry run of an apply, stored": {
			step: dry(apply), before: true, fault: always("apply", apitest.Fault{Wet: true}),
			status: reports.Failed, says: []string{"but it was stored"},
		},
		"dry run of a new apply, stored": {
			step: dry(apply), fault: always("apply", apitest.Fault{Wet: true}),
			status: reports.Failed, says: []string{"but it was stored"},
		},
		"dry run of an update": {step: dry(update), before: true, status: reports.Passed},
		"dry run of an update, stored": {
			step: dry(update), before: true, fault: always("update", apitest.Fault{Wet: true}),
			status: reports.Failed, says: []string{"but it was stored"},
		},
		"dry run of a patch": {step: dry(patch), before: true, status: reports.Passed},
		"dry run of a patch, stored": {
			step: dry(patch), before: true, fault: always("patch", apitest.Fault{Wet: true}),
			status: reports.Failed, says: []string{"but it was stored"},
		},
		"dry run of a delete": {step: dry(remove), before: true, status: reports.Passed},
		"dry run of a delete, done": {
			step: dry(remove), before: true, fault: always("delete", apitest.Fault{Wet: true}),
			status: reports.Failed, says: []string{"but it was stored: the object is gone"},
		},
		"dry run rejected": {
			step:  dry(with(create, reject(scenarios.Rejection{Code: 422}))),
			fault: always("create", apitest.Fault{Status: invalid()}), status: reports.Passed,
		},
		"dry run that is no dry run": {
			step: dry(create),
			fault: only("create", 1, apitest.Fault{Status: apitest.Status(400, "BadRequest",
				`admission webhook "x" does not support dry run`)}), status: reports.Passed, attempt: "does not support dry run",
			writes: 2,
		},

		"apply of a wrong type": {
			step: with(apply, reject(scenarios.Rejection{By: "schema"})),
			fault: always("apply", apitest.Fault{Status: apitest.Status(500, "", "failed to create typed patch object "+
				"(ns/web; v1, Kind=ConfigMap): .data: no")}), status: reports.Passed,
		},
		"apply of an unknown field": {
			step: apply,
			fault: always("apply", apitest.Fault{Status: apitest.Status(500, "", "failed to create typed patch object "+
				"(ns/web; v1, Kind=ConfigMap): .dta: field not declared in schema")}), status: reports.Failed,
			says: []string{"rejected, but should have been accepted", ".dta: field not declared in schema"},
		},
		"create of which something is dropped": {
			step: create, fault: always("create", apitest.Fault{Without: "data"}),
			status: reports.Failed, says: []string{"create ConfigMap web was accepted, but: data was dropped: it " +
				"was sent, but the returned object lacks it"},
		},
		"apply of which something is dropped": {
			step: apply, fault: always("apply", apitest.Fault{Without: "data"}),
			status: reports.Failed, says: []string{"data was dropped"},
		},
		"update of which something is dropped": {
			step: update, before: true,
			fault: always("update", apitest.Fault{Without: "data"}), status: reports.Failed, says: []string{"data was dropped"},
		},
		"patch of which something is dropped": {
			step: patch, before: true,
			fault: always("patch", apitest.Fault{Without: "data"}), status: reports.Failed, says: []string{"data was dropped"},
		},
		"dropped as expected": {
			step:  with(create, &scenarios.Expect{Dropped: []string{"data.x"}}),
			fault: always("create", apitest.Fault{Without: "data"}), status: reports.Passed,
		},
		"any of, the second": {
			step: with(create,
				reject(scenarios.Rejection{AnyOf: []scenarios.Rejection{{Code: 403}, {Code: 422}}})),
			fault: always("create", apitest.Fault{Status: invalid()}), status: reports.Passed,
		},
		"any of, none": {
			step: with(create,
				reject(scenarios.Rejection{AnyOf: []scenarios.Rejection{{Code: 403}, {Code: 409}}})),
			fault: always("create", apitest.Fault{Status: invalid()}), status: reports.Failed,
			says: []string{"alternative 1 of 2 (code 403):", "want 409"},
		},
		"any of, with a 500": {
			step: with(create,
				reject(scenarios.Rejection{AnyOf: []scenarios.Rejection{{Code: 403}, {Code: 500}}})),
			fault:  always("create", apitest.Fault{Status: apitest.Status(500, "InternalError", "failed calling webhook")}),
			status: reports.Passed,
		},
		"rejected by another": {
			step:  with(create, reject(scenarios.Rejection{By: "webhook"})),
			fault: always("create", apitest.Fault{Status: invalid()}), status: reports.Failed,
			says: []string{"by:\n  want webhook\n  got  unknown"},
		},
		"delete wrongly accepted": {
			step: with(remove, reject(scenarios.Rejection{Code: 403})), before: true,
			status: reports.Failed, says: []string{"was accepted, but should have been rejected"},
		},
		"match": {step: with(create,
			&scenarios.Expect{Match: map[string]any{"data": map[string]any{"x": "1"}}}), status: reports.Passed},
		"mismatch": {
			step: with(create,
				&scenarios.Expect{Match: map[string]any{"data": map[string]any{"x": "2"}}}), status: reports.Failed,
			says: []string{"not as expected", "data.x"},
		},
		"cel is false": {
			step: with(create, &scenarios.Expect{CEL: "false"}), status: reports.Failed,
			says: []string{"cel: false is false"},
		},
		"warning": {
			step: with(create,
				&scenarios.Expect{Warnings: []scenarios.Text{{Contains: "old"}}}),
			fault: always("create", apitest.Fault{Warnings: []string{"this is old"}}), status: reports.Passed,
		},
		"warning missing": {
			step: with(create,
				&scenarios.Expect{Warnings: []scenarios.Text{{Contains: "old"}}}), status: reports.Failed,
			says: []string{"warning:", "(none)"},
		},
		"warning lost": {
			step: with(create,
				&scenarios.Expect{Warnings: []scenarios.Text{{Contains: "old"}}}),
			fault: only("create", 1, apitest.Fault{Stored: true}), status: reports.Error, says: []string{"answer with its warnings was lost"},
		},
		"the returned object lost": {
			step:  with(create, &scenarios.Expect{Match: map[string]any{"data": map[string]any{"x": "then"}}}),
			fault: only("create", 1, apitest.Fault{Stored: true}), status: reports.Error, says: []string{"and later the object is"},
		},
		"update of another object": {
			step: with(ofAnother, reject(scenarios.Rejection{Code: 409})), before: true, writes: 1, status: reports.Passed,
			fault: always("update", apitest.Fault{Status: apitest.Status(409, "Conflict", "Precondition failed: UID")}),
		},
		"kind not served": {
			step: scenarios.Step{Create: scenarios.Object{
				"apiVersion": "x.io/v1",
				"kind":       "Thing", "metadata": map[string]any{"name": "a"},
			}}, status: reports.Failed,
			says: []string{"Thing of x.io/v1 is not served by 1.34.4"}, writes: -1,
		},
		"kind not served, wanted": {
			step: with(scenarios.Step{Create: scenarios.Object{
				"apiVersion": "x.io/v1",
				"kind":       "Thing", "metadata": map[string]any{"name": "a"},
			}}, reject(scenarios.Rejection{Code: 404})),
			status: reports.Passed, writes: -1,
		},
		"kind not served, any rejection": {
			step: with(scenarios.Step{Create: scenarios.Object{
				"apiVersion": "x.io/v1",
				"kind":       "Thing", "metadata": map[string]any{"name": "a"},
			}}, reject(scenarios.Rejection{})), status: reports.Failed, says: []string{"its kind is not served"},
			writes: -1,
		},
		"delete of a kind not served": {step: scenarios.Step{Delete: &scenarios.Delete{ObjectReference: scenarios.ObjectReference{APIVersion: "x.io/v1", Kind: "Thing", Name: "a"}}}, status: reports.Failed, says: []string{"delete Thing a was rejected", "404 NotFound"}, writes: -1},
		"a name no URL can hold": {
			step: scenarios.Step{Update: configMap("a/b", nil)}, status: reports.Error,
			says: []string{"cannot be sent"}, writes: -1,
		},
		"an object without a kind": {
			step:   scenarios.Step{Create: scenarios.Object{"apiVersion": "v1"}},
			status: reports.Error, says: []string{"do not name a kind"}, writes: -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			if test.before {
				server.Put("configmaps", stored("web", "ns"))
			}
			server.Misbehave(test.fault)
			s := newSender(t, server)
			got := s.do(t.Context(), test.step)
			if got.Status != test.status {
				t.Fatalf("status %s, want %s: %s", got.Status, test.status, got.Message)
			}
			for _, words := range test.says {
				if !strings.Contains(got.Message, words) {
					t.Errorf("the message does not say %q:\n%s", words, got.Message)
				}
			}
			if test.attempt != "" && (len(s.attempts) == 0 || !strings.Contains(s.attempts[0], test.attempt)) {
				t.Errorf("attempts %q, want the first to say %q", s.attempts, test.attempt)
			}
			sent := 0
			for _, verb := range []string{"create", "update", "patch", "apply", "delete"} {
				sent += server.Requests(verb, "ConfigMap")
			}
			if want := max(test.writes, 1); test.writes >= 0 && sent != want {
				t.Errorf("the write was sent %d times, want %d", sent, want)
			}
		})
	}
}

func TestTimeUpIsNoVerdict(t *testing.T) {
	server := apitest.New(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb != "create" {
			return nil
		}
		if r.Number == 3 {
			cancel(context.DeadlineExceeded)
		}
		return &apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "starting")}
	})
	s := newSender(t, server)
	for _, expect := range []*scenarios.Expect{nil, reject(scenarios.Rejection{})} {
		got := s.do(ctx, scenarios.Step{Create: configMap("web", nil), Expect: expect})
		if got.Status != reports.Error || !strings.Contains(got.Message, "unknown whether") {
			t.Errorf("got %s: %s", got.Status, got.Message)
		}
	}
}

func TestRejectionWithoutALookIsNoVerdict(t *testing.T) {
	server := apitest.New(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch r.Verb {
		case "create":
			return &apitest.Fault{Status: invalid()}
		case "get":
			if r.Number == 1 {
				return nil // the read before the write
			}
			cancel(errors.New("stopped by the test"))
			return &apitest.Fault{}
		}
		return nil
	})
	got := newSender(t, server).do(ctx, scenarios.Step{
		Create: configMap("web", nil),
		Expect: reject(scenarios.Rejection{Code: 422}),
	})
	if got.Status != reports.Error || !strings.Contains(got.Message, "it could not be checked") {
		t.Errorf("got %s: %s", got.Status, got.Message)
	}
}

func TestGeneratedNameIsNotMadeTwice(t *testing.T) {
	server := apitest.New(t)
	server.Misbehave(only("create", 1, apitest.Fault{Stored: true}))
	s := newSender(t, server)
	object := configMap("", nil)
	object["metadata"] = map[string]any{"generateName": "web-"}
	got := s.do(t.Context(), scenarios.Step{Create: object})
	if got.Status != reports.Passed || server.Count("configmaps") != 1 {
		t.Errorf("got %s with %d objects: %s", got.Status, server.Count("configmaps"), got.Message)
	}
	if len(s.made) != 1 || !strings.HasPrefix(s.made[0].Name, "web-") {
		t.Errorf("made %+v", s.made)
	}
}

func TestApplyTellsOnlyOfWhatItMade(t *testing.T) {
	node := scenarios.Object{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "a"}}
	server := apitest.New(t)
	s := newSender(t, server)
	for range 2 {
		if got := s.do(t.Context(), scenarios.Step{Apply: node}); got.Status != reports.Passed {
			t.Fatal(got.Message)
		}
	}
	if len(s.made) != 1 || s.made[0].Name != "a" || s.made[0].Namespaced {
		t.Errorf("made %+v, want the node once", s.made)
	}
}

// Every write with fields uses strict field validation by default.
func TestFieldValidation(t *testing.T) {
	ref := scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web"}
	for verb, step := range map[string]scenarios.Step{
		"create": {Create: configMap("web", nil)},
		"apply":  {Apply: configMap("web", nil)},
		"update": {Update: configMap("web", nil)},
		"patch":  {Patch: &scenarios.Patch{ObjectReference: ref, Merge: map[string]any{"data": map[string]any{"x": "3"}}}},
	} {
		for asked, want := range map[string]string{"": "Strict", "Warn": "Warn", "Ignore": "Ignore"} {
			server := apitest.New(t)
			if verb != "create" {
				server.Put("configmaps", stored("web", "ns"))
			}
			sent := ""
			server.Misbehave(func(r apitest.Request) *apitest.Fault {
				if r.Verb == verb {
					sent = r.FieldValidation
				}
				return nil
			})
			step.FieldValidation = asked
			if got := newSender(t, server).do(t.Context(), step); got.Status != reports.Passed || sent != want {
				t.Errorf("%s with %q: sent %q: %s", verb, asked, sent, got.Message)
			}
		}
	}
}

// After a change of its definition, a kind may for a short time be judged by the old definition.
func TestDefinitionThatWasJustWritten(t *testing.T) {
	thing := apitest.Kind{GVK: schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Thing"}, Resource: "things"}
	server := apitest.New(t, thing)
	s := newSender(t, server)
	s.Kinds.Wrote(definition())
	s.Appear = time.Hour
	unknown := apitest.Status(400, "BadRequest",
		`Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec"`)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Kind == "Thing" && r.Verb == "create" && r.Number < 3 {
			return &apitest.Fault{Status: unknown}
		}
		return nil
	})
	create := scenarios.Step{Create: scenarios.Object{
		"apiVersion": "x.io/v1", "kind": "Thing",
		"metadata": map[string]any{"name": "a"}, "spec": "x",
	}}
	if got := s.do(t.Context(), create); got.Status != reports.Passed {
		t.Fatalf("got %s: %s", got.Status, got.Message)
	}
	server.Misbehave(func(r apitest.Request) *apitest.Fault { return &apitest.Fault{Status: unknown} })
	s.Appear = time.Nanosecond
	if got := s.do(t.Context(), create); got.Status != reports.Failed || !strings.Contains(got.Message, "unknown field") {
		t.Fatalf("got %s: %s", got.Status, got.Message)
	}
}

// After a change of its definition, an old definition may for a short time accept what the new one rejects. The write
// itself is sent only when a dry run is rejected, or nothing changes for a while.
func TestDefinitionThatStillAccepts(t *testing.T) {
	thing := apitest.Kind{GVK: schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Thing"}, Resource: "things"}
	server := apitest.New(t, thing)
	s := newSender(t, server)
	s.Kinds.Wrote(definition())
	s.Appear = time.Hour
	invalid := apitest.Status(422, "Invalid", "spec: Invalid value")
	stored := 0
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Kind != "Thing" || r.Verb != "create" {
			return nil
		}
		if !r.DryRun {
			stored++
		}
		if r.Number < 3 {
			return nil
		}
		return &apitest.Fault{Status: invalid}
	})
	create := scenarios.Step{
		Create: scenarios.Object{
			"apiVersion": "x.io/v1", "kind": "Thing",
			"metadata": map[string]any{"name": "a"}, "spec": "x",
		},
		Expect: &scenarios.Expect{Rejected: &scenarios.Rejection{Code: 422}},
	}
	if got := s.do(t.Context(), create); got.Status != reports.Passed || stored != 1 {
		t.Fatalf("sent %d times, got %s: %s", stored, got.Status, got.Message)
	}
	server.Misbehave(nil)
	s.Appear = time.Nanosecond
	if got := s.do(t.Context(), create); got.Status != reports.Failed || !strings.Contains(got.Message, "was accepted") {
		t.Fatalf("got %s: %s", got.Status, got.Message)
	}
	s.Kinds.Wrote(definition())
	s.Appear = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	create.Create["metadata"] = map[string]any{"name": "b"}
	if got := s.do(ctx, create); got.Status != reports.Failed || !strings.Contains(got.Message, "was accepted") {
		t.Fatalf("within two seconds: got %s: %s", got.Status, got.Message)
	}
}

// The API server may not know a new PriorityClass yet when it gets a Pod. A class that does not exist is a rejection.
func TestPodOfANewPriorityClass(t *testing.T) {
	class := apitest.Kind{
		GVK:      schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
		Resource: "priorityclasses",
	}
	pod := apitest.Kind{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}
	server := apitest.New(t, class, pod)
	s := newSender(t, server)
	s.Appear = time.Hour
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Kind == "Pod" && r.Verb == "create" && r.Number < 3 {
			return &apitest.Fault{Status: apitest.Status(403, "Forbidden",
				`pods "a" is forbidden: no PriorityClass with name urgent was found`)}
		}
		return nil
	})
	create := scenarios.Step{Create: scenarios.Object{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"priorityClassName": "urgent"},
	}}
	if got := s.do(t.Context(), create); got.Status != reports.Failed || !strings.Contains(got.Message, "no PriorityClass") {
		t.Fatalf("without the class: got %s: %s", got.Status, got.Message)
	}
	made := s.do(t.Context(), scenarios.Step{Create: scenarios.Object{
		"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
		"metadata": map[string]any{"name": "urgent"}, "value": int64(1),
	}})
	if made.Status != reports.Passed {
		t.Fatalf("the class: %s: %s", made.Status, made.Message)
	}
	if got := s.do(t.Context(), create); got.Status != reports.Passed {
		t.Fatalf("with the class: got %s: %s", got.Status, got.Message)
	}
}

// What an update creates is removed at the end, like what a create makes. What it finds is not.
func TestUpdateThatCreates(t *testing.T) {
	lease := apitest.Kind{
		GVK:      schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
		Resource: "leases", Namespaced: true, Upserts: true,
	}
	s := newSender(t, apitest.New(t, lease))
	update := func(seconds int64) scenarios.Step {
		return scenarios.Step{Update: scenarios.Object{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"leaseDurationSeconds": seconds},
		}}
	}
	for _, seconds := range []int64{1, 2} {
		if got := s.do(t.Context(), update(seconds)); got.Status != reports.Passed {
			t.Fatalf("got %s: %s", got.Status, got.Message)
		}
		if len(s.made) != 1 || s.made[0].Name != "a" {
			t.Errorf("after update %d: made %v", seconds, s.made)
		}
	}
}

// Of writes that are counted, each may be accepted. None of them waits for its rejection.
func TestDefinitionIsNewForWritesThatAreCounted(t *testing.T) {
	thing := apitest.Kind{GVK: schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Thing"}, Resource: "things"}
	server := apitest.New(t, thing)
	s := newSender(t, server)
	s.Kinds.Wrote(definition())
	s.Appear = time.Hour
	dryRuns := 0
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.DryRun {
			dryRuns++
		}
		if r.Verb != "create" || r.Number != 2 {
			return nil
		}
		return &apitest.Fault{Status: apitest.Status(403, "Forbidden", "only one")}
	})
	create := func(name string) writes.Request {
		return writes.Request{Step: &scenarios.Step{Create: scenarios.Object{
			"apiVersion": "x.io/v1", "kind": "Thing", "metadata": map[string]any{"name": name},
		}}}
	}
	one := 1
	got := s.AtOnce(t.Context(), []writes.Request{create("a"), create("b")}, &scenarios.ParallelExpect{
		Accepted: &scenarios.Count{Min: &one, Max: &one}, Rejected: &scenarios.Rejection{Code: 403},
	})
	if got.Status != reports.Passed || dryRuns > 0 {
		t.Errorf("%d dry runs, got %s: %s", dryRuns, got.Status, got.Message)
	}
}

func TestNothingIsSentAgainByTheClient(t *testing.T) {
	requests := 0
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		requests++
		header := http.Header{"Retry-After": {"0"}, "Content-Type": {"application/json"}}
		return &http.Response{StatusCode: 429, Header: header, Body: http.NoBody, Request: r}, nil
	})
	config := writes.Configure(apitest.New(t).Config(), "rehearse/test")
	config.Transport = transport
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).Get(t.Context(), "a",
		metav1.GetOptions{})
	if err == nil || requests != 1 {
		t.Errorf("%d requests, error %v", requests, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An expression that cannot be evaluated is no verdict. An object that lacks the field is not as expected.
func TestExpressionThatCannotBeEvaluated(t *testing.T) {
	for _, test := range []struct {
		err  error
		want reports.Status
	}{
		{errors.New("no such overload"), reports.Error},
		{&expressions.MissingError{What: "no such key: n"}, reports.Failed},
	} {
		s := newSender(t, apitest.New(t))
		s.Holds = func(*scenarios.Step, map[string]any) (bool, error) { return false, test.err }
		verdict := s.do(t.Context(), scenarios.Step{
			Create: configMap("a", nil), Expect: &scenarios.Expect{CEL: "object.data.n > 0"},
		})
		if verdict.Status != test.want {
			t.Errorf("%v: got %s: %s", test.err, verdict.Status, verdict.Message)
		}
	}
}

// Each difference from the wanted object is a problem of its own: a known issue about one does not explain another.
func TestEachDifferenceIsAProblem(t *testing.T) {
	s := newSender(t, apitest.New(t))
	got := s.do(t.Context(), scenarios.Step{
		Create: configMap("a", map[string]any{"x": "1", "y": "1"}),
		Expect: &scenarios.Expect{Match: map[string]any{"data": map[string]any{"x": "2", "y": "2"}}},
	})
	if len(got.Problems) != 2 || !strings.Contains(got.Problems[0].Message, "data.x") ||
		strings.Contains(got.Problems[0].Message, "data.y") || !strings.Contains(got.Problems[1].Message, "data.y") {
		t.Errorf("%s: %+v", got.Message, got.Problems)
	}
}
