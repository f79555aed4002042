package cases

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/apitest"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// small is a rule: a widget's name has only lowercase letters.
func small() Rule {
	return Rule{Name: "small letters", Covers: []string{"W-1", "W-2"}, Begin: func(context.Context, World) (Draw, error) {
		return func(t *rapid.T) Case {
			name := rapid.StringOfN(rapid.SampledFrom([]rune("abAB-")), 1, 6, -1).Draw(t, "name")
			allowed := strings.Trim(name, "ab") == ""
			return Case{
				Input: "a widget named " + name, Resource: widgets, Allowed: allowed, Requirement: "W-1",
				Object: map[string]any{
					"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
				},
			}
		}, nil
	}}
}

// anyConfigMap is a rule that allows ConfigMaps of two names.
func anyConfigMap(requirement string) Rule {
	return Rule{Name: "any", Begin: func(context.Context, World) (Draw, error) {
		return func(t *rapid.T) Case {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
			return Case{
				Input: name, Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Allowed: true,
				Requirement: requirement, Object: map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
				},
			}
		}, nil
	}}
}

// world returns a World whose API server judges names with a function, and the list of these names.
func world(judge func(name string) error) (World, *[]string) {
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	var names []string
	client.PrependReactor("create", "widgets", func(action kubetesting.Action) (bool, runtime.Object, error) {
		object := action.(kubetesting.CreateAction).GetObject().(*unstructured.Unstructured)
		names = append(names, object.GetName())
		return true, object, judge(object.GetName())
	})
	return World{Client: client, Namespace: "here", Seed: 7}, &names
}

func invalid(name, why string) error {
	return apierrors.NewBadRequest("widget " + name + ": " + why)
}

// strict rejects the names that the rule does not allow.
func strict(name string) error {
	if strings.Trim(name, "ab") != "" {
		return invalid(name, "small letters only")
	}
	return nil
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		judge func(string) error
		found string
		err   string
	}{
		"agreement": {judge: strict},
		"a sign let through": {
			judge: func(name string) error { return strict(strings.ReplaceAll(name, "A", "a")) },
			found: "a widget named A: by W-1 it must be rejected, but it was accepted",
		},
		"a good name rejected": {
			judge: func(name string) error { return strict(strings.ReplaceAll(name, "b", "B")) },
			found: "a widget named b: by W-1 it must be accepted, but it was rejected: 400 BadRequest: widget B: small",
		},
		"nobody can tell": {
			judge: func(string) error { return errors.New("connection refused") },
			err:   "connection refused",
		},
		"a webhook that broke": {judge: func(string) error { return apierrors.NewInternalError(errors.New("failed calling webhook")) }, err: "failed calling webhook"},
		"a server that is full": {
			judge: func(string) error { return apierrors.NewTooManyRequests("later", 1) },
			err:   "later",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := world(c.judge)
			result := check(t.Context(), w, small(), 200)
			switch {
			case c.err != "":
				if result.Err == nil || !strings.Contains(result.Err.Error(), c.err) || result.Disagreement != nil {
					t.Errorf("got %v, %v; want the error %q", result.Disagreement, result.Err, c.err)
				}
			case result.Err != nil:
				t.Error(result.Err)
			case c.found == "":
				if result.Disagreement != nil || result.Judged != 200 || result.Seed != 7 {
					t.Errorf("%d judged, seed %d, %v", result.Judged, result.Seed, result.Disagreement)
				}
			case result.Disagreement == nil || !strings.HasPrefix(result.Disagreement.String(), c.found):
				t.Errorf("got %v\nwant %s", result.Disagreement, c.found)
			}
		})
	}
}

// A case without a verdict is tried again.
func TestCheckAsksAgain(t *testing.T) {
	asked := 0
	w, names := world(func(name string) error {
		if asked++; asked%2 == 1 {
			return apierrors.NewServiceUnavailable("not now")
		}
		return strict(name)
	})
	if result := check(t.Context(), w, small(), 50); result.Err != nil || result.Judged != 50 || len(*names) != 100 {
		t.Errorf("%d judged, %d asked, %v", result.Judged, len(*names), result.Err)
	}
}

// A disagreement is reported even if smaller cases cannot be judged any more.
func TestDisagreementBeforeAnEnd(t *testing.T) {
	broken := false
	w, _ := world(func(name string) error {
		if broken {
			return errors.New("connection refused")
		}
		broken = strict(name) != nil
		return nil
	})
	if result := check(t.Context(), w, small(), 200); result.Err == nil || result.Disagreement == nil ||
		result.Disagreement.Got != "accepted" {
		t.Errorf("got %v, %v", result.Disagreement, result.Err)
	}
}

// dryRun reports whether a request to create an object is a dry run.
func dryRun(action kubetesting.Action) bool {
	created, ok := action.(kubetesting.CreateActionImpl)
	return ok && len(created.CreateOptions.DryRun) > 0
}

// An implementation without dry runs is judged by real creations, also about the cases before the first allowed one.
func TestCheckWithoutDryRuns(t *testing.T) {
	for name, found := range map[string]string{
		"":  "",
		"A": "a widget named A: by W-1 it must be rejected, but it was accepted",
		"b": "a widget named b: by W-1 it must be accepted, but it was rejected: 400 BadRequest: widget B: small",
	} {
		w, _ := world(func(object string) error {
			switch name {
			case "A":
				object = strings.ReplaceAll(object, "A", "a")
			case "b":
				object = strings.ReplaceAll(object, "b", "B")
			}
			return strict(object)
		})
		client := w.Client.(*fake.FakeDynamicClient)
		client.PrependReactor("create", "widgets", func(action kubetesting.Action) (bool, runtime.Object, error) {
			return dryRun(action), nil, apierrors.NewBadRequest("dry runs are not supported")
		})
		client.PrependReactor("delete", "widgets", func(kubetesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(widgets.GroupResource(), "it")
		})
		result := check(t.Context(), w, small(), 200)
		if result.Err != nil || (result.Disagreement == nil) != (found == "") {
			t.Errorf("%q: %v, %v", name, result.Disagreement, result.Err)
		} else if found != "" && !strings.HasPrefix(result.Disagreement.String(), found) {
			t.Errorf("%q: got %v\nwant %s", name, result.Disagreement, found)
		}
	}
}

// An object that is accepted against the specification, and that cannot be deleted, is a disagreement.
func TestDisagreementThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the deletion is tried for minutes
		w, _ := world(func(string) error { return nil })
		w.Client.(*fake.FakeDynamicClient).PrependReactor("*", "widgets",
			func(action kubetesting.Action) (bool, runtime.Object, error) {
				return action.GetVerb() != "create", nil, apierrors.NewForbidden(widgets.GroupResource(), "it", errors.New("no"))
			})
		result := check(t.Context(), w, small(), 200)
		if result.Disagreement == nil || result.Disagreement.Got != "accepted" || result.Err == nil {
			t.Errorf("got %v, %v", result.Disagreement, result.Err)
		}
	})
}

// If an implementation stores a dry run, each case is still judged independently.
func TestDryRunsThatAreStored(t *testing.T) {
	server := apitest.New(t)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "create" {
			return &apitest.Fault{Wet: true}
		}
		return nil
	})
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	result := check(t.Context(), World{Client: client, Namespace: "here", Seed: 7}, anyConfigMap("W-1"), 20)
	if result.Err != nil || result.Disagreement != nil || result.Judged != 20 || server.Count("configmaps") != 0 {
		t.Errorf("judged %d: %v %v; %d are left", result.Judged, result.Disagreement, result.Err, server.Count("configmaps"))
	}
}

// The answer to a creation may be lost although the object is stored. The next attempt must not count as a rejection.
func TestCheckAfterALostAnswer(t *testing.T) {
	server := apitest.New(t)
	creations := 0
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "create" {
			creations++
		}
		if r.Verb == "create" && creations == 1 {
			return &apitest.Fault{Stored: true, Text: "bad gateway", Code: http.StatusBadGateway}
		}
		return nil
	})
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	result := check(t.Context(), World{Client: client, Namespace: "here", Seed: 7, wet: true}, anyConfigMap("W-1"), 3)
	if result.Err != nil || result.Disagreement != nil || result.Judged != 3 || server.Count("configmaps") != 0 {
		t.Errorf("judged %d: %v %v; %d are left", result.Judged, result.Disagreement, result.Err, server.Count("configmaps"))
	}
}

// An implementation that rejects what the inputs need disagrees. No case can be judged then.
func TestDisagreementOfThePreparation(t *testing.T) {
	w, names := world(strict)
	rejected := &Disagreement{Case: Case{Input: "a widget named a", Allowed: true, Requirement: "W-2"}, Got: "rejected: 409"}
	result := check(t.Context(), w, Rule{Name: "prepared", Begin: func(context.Context, World) (Draw, error) {
		return nil, fmt.Errorf("prepare: %w", rejected)
	}}, 5)
	if result.Disagreement != rejected || result.Err != nil || result.Judged != 0 || len(*names) != 0 {
		t.Errorf("got %v, %v, %d judged", result.Disagreement, result.Err, result.Judged)
	}
}

// If dry runs prove nothing, the cases are judged again, but the preparation is not repeated: its objects exist.
func TestCheckWithoutDryRunsPreparesOnce(t *testing.T) {
	w, _ := world(strict)
	client := w.Client.(*fake.FakeDynamicClient)
	client.PrependReactor("create", "widgets", func(action kubetesting.Action) (bool, runtime.Object, error) {
		return dryRun(action), nil, apierrors.NewBadRequest("dry runs are not supported")
	})
	client.PrependReactor("delete", "widgets", func(kubetesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(widgets.GroupResource(), "it")
	})
	rule, began := small(), 0
	begin := rule.Begin
	rule.Begin = func(ctx context.Context, w World) (Draw, error) {
		began++
		return begin(ctx, w)
	}
	if result := check(t.Context(), w, rule, 20); began != 1 || result.Err != nil || result.Judged != 20 {
		t.Errorf("prepared %d times, judged %d: %v", began, result.Judged, result.Err)
	}
}

// A smaller case that breaks another requirement does not hide the first one.
func TestTheFirstRequirementStays(t *testing.T) {
	w, _ := world(func(string) error { return nil })
	rule, first := small(), ""
	begin := rule.Begin
	rule.Begin = func(ctx context.Context, w World) (Draw, error) {
		draw, err := begin(ctx, w)
		return func(t *rapid.T) Case {
			c := draw(t)
			if name := c.Object["metadata"].(map[string]any)["name"].(string); len(name) < 3 {
				c.Requirement = "W-2"
			}
			if first == "" && !c.Allowed {
				first = c.Requirement
			}
			return c
		}, err
	}
	for seed := range uint64(9) {
		first, w.Seed = "", seed+1
		if result := check(t.Context(), w, rule, 200); result.Disagreement.Case.Requirement != first {
			t.Errorf("seed %d: got %v, want one of %s", seed+1, result.Disagreement, first)
		}
	}
}

func TestSeeds(t *testing.T) {
	draw := func(seed uint64) []string {
		w, names := world(strict)
		w.Seed = seed
		if result := check(t.Context(), w, small(), 30); result.Err != nil {
			t.Fatal(result.Err)
		}
		return *names
	}
	if !slices.Equal(draw(3), draw(3)) {
		t.Error("one seed drew two lists of cases")
	}
	if slices.Equal(draw(3), draw(4)) {
		t.Error("two seeds drew the same cases")
	}
}

func TestRulesThatBreak(t *testing.T) {
	w, _ := world(strict)
	for name, begin := range map[string]func(context.Context, World) (Draw, error){
		"no repository": func(context.Context, World) (Draw, error) { return nil, errors.New("no repository") },
		"out of range": func(context.Context, World) (Draw, error) {
			return func(*rapid.T) Case { panic("out of range") },
				nil
		},
	} {
		result := check(t.Context(), w, Rule{Name: "broken", Begin: begin}, 5)
		if result.Err == nil || !strings.Contains(result.Err.Error(), name) || result.Judged != 0 {
			t.Errorf("%d judged, %v; want the error %q", result.Judged, result.Err, name)
		}
	}
}

func TestStatusOfARejection(t *testing.T) {
	w, _ := world(func(name string) error {
		return &apierrors.StatusError{ErrStatus: apierrors.NewConflict(widgets.GroupResource(), name,
			errors.New("taken")).Status()}
	})
	result := check(t.Context(), w, small(), 5)
	if result.Disagreement == nil || !strings.Contains(result.Disagreement.Got, http.StatusText(http.StatusConflict)) {
		t.Errorf("got %v, %v", result.Disagreement, result.Err)
	}
}
