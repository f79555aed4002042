package writes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// prover sends creations of ConfigMaps that should be rejected. The third request may do more than that.
type prover struct {
	*Writer
	server *apitest.Server
	api    dynamic.ResourceInterface
	proof  *Proof
	made   []Made
	sent   int
}

// third is the field manager of the third write.
const third = "test-3"

func newProver(t *testing.T, inThird func(*prover) *apitest.Fault) *prover {
	t.Helper()
	p := &prover{server: apitest.New(t)}
	config := Configure(p.server.Config(), "rehearse/test")
	client, err := dynamic.NewForConfig(config)
	golden.Must(t, err)
	found, err := discovery.NewDiscoveryClientForConfig(config)
	golden.Must(t, err)
	p.api = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("ns")
	p.Writer = &Writer{
		Client: client, Kinds: served.NewKinds(found.RESTClient(), "1.34.4"), Namespace: "ns",
		Wrote:  func(m Made) { p.made = append(p.made, m) },
		Pauses: func() backoff.BackOff { return new(backoff.ZeroBackOff) },
	}
	p.proof = p.NewProof(t.Context(), 5)
	t.Cleanup(p.proof.Close)
	inside := false
	p.server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch {
		case r.Verb != "create" || inside:
			return nil
		case r.Manager == third && inThird != nil:
			inside = true
			defer func() { inside = false }()
			return inThird(p)
		}
		return &apitest.Fault{Status: rejection()}
	})
	return p
}

func rejection() *metav1.Status { return apitest.Status(422, "Invalid", "never") }

func (p *prover) send(ctx context.Context, object scenarios.Object) Verdict {
	p.sent++
	step := scenarios.Step{Create: object, Expect: &scenarios.Expect{Rejected: &scenarios.Rejection{Code: 422}}}
	return p.Do(ctx, Request{Step: &step, Manager: fmt.Sprintf("test-%d", p.sent), Proof: p.proof})
}

// write creates an object with this name as the field manager of the third write.
func (p *prover) write(name string) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name},
	}}
	if _, err := p.api.Create(context.Background(), object, metav1.CreateOptions{FieldManager: third}); err != nil {
		panic(err)
	}
}

func named(metadata map[string]any) scenarios.Object {
	return scenarios.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
}

// What one of many rejected creations stores is attributed to it, under any name, even if it is gone again.
func TestRejectionsAreProvenTogether(t *testing.T) {
	for name, test := range map[string]struct {
		generate bool
		inThird  func(*prover) *apitest.Fault
		says     string
		made     string
	}{
		"nothing is stored":  {},
		"of generated names": {generate: true},
		"it is stored": {inThird: func(*prover) *apitest.Fault {
			return &apitest.Fault{
				Status: rejection(),
				Stored: true,
			}
		}, says: "create ConfigMap a-3 was rejected, but it was stored: ", made: "a-3"},
		"by a generated name": {
			generate: true,
			inThird:  func(*prover) *apitest.Fault { return &apitest.Fault{Status: rejection(), Stored: true} },
			says:     "create ConfigMap a-* was rejected, but it was stored: ", made: "a-",
		},
		"rejected otherwise": {inThird: func(*prover) *apitest.Fault {
			return &apitest.Fault{Status: apitest.Status(403,
				"Forbidden", "no")}
		}, says: "was rejected, but not as expected"},
		"otherwise, and stored": {inThird: func(*prover) *apitest.Fault {
			return &apitest.Fault{Status: apitest.Status(403, "Forbidden", "no"), Stored: true}
		}, says: "was rejected, but it was stored", made: "a-3"},
		"stored by another " +
			"name": {inThird: func(p *prover) *apitest.Fault { p.write("mutated"); return &apitest.Fault{Status: rejection()} }, says: "create ConfigMap a-3 was rejected, but it was stored: ", made: "mutated"},
		"and gone again": {inThird: func(p *prover) *apitest.Fault {
			p.write("a-3")
			if err := p.api.Delete(context.Background(), "a-3", metav1.DeleteOptions{}); err != nil {
				panic(err)
			}
			if err := p.await(func() bool { return p.proof.made[third] != nil }); err != nil {
				panic(err)
			}
			return &apitest.Fault{Status: rejection()}
		}, says: "was rejected, but it was stored: it is gone again: ", made: "a-3"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProver(t, test.inThird)
			for n := range 5 {
				metadata := map[string]any{"name": fmt.Sprintf("a-%d", n+1)}
				if test.generate {
					metadata = map[string]any{"generateName": "a-"}
				}
				if v := p.send(t.Context(), named(metadata)); !v.Held {
					t.Fatalf("write %d was not held: %s", n+1, v.Message)
				}
			}
			verdicts := p.proof.Prove(t.Context())
			if len(verdicts) != 5 || len(p.proof.Prove(t.Context())) != 0 {
				t.Fatalf("%d verdicts, want 5 once", len(verdicts))
			}
			for n, v := range verdicts {
				if want := n == 2 && test.says != ""; want != (v.Status == reports.Failed) ||
					!strings.Contains(v.Message, test.says) && want {
					t.Errorf("write %d is %s: %s", n+1, v.Status, v.Message)
				}
			}
			if told := len(p.made) == 1 && p.made[0].UID != "" && strings.HasPrefix(p.made[0].Name,
				test.made); told != (test.made != "") {
				t.Errorf("made %+v, want %q", p.made, test.made)
			}
			if p.server.Requests("get", "ConfigMap") != 0 || p.server.Requests("list", "ConfigMap") != 2 {
				t.Errorf("%d gets and %d lists", p.server.Requests("get", "ConfigMap"), p.server.Requests("list", "ConfigMap"))
			}
		})
	}
}

func (p *prover) await(what func() bool) error {
	return wait.PollUntilContextTimeout(context.Background(), time.Millisecond, 10*time.Second, true,
		func(context.Context) (bool, error) {
			p.proof.mu.Lock()
			defer p.proof.mu.Unlock()
			return what(), nil
		})
}

// Without managed fields, an object that appears meanwhile is not blamed on the rejected creation, but also not
// overlooked: the result is an error.
func TestRejectionsWithoutManagedFields(t *testing.T) {
	stored := func(*prover) *apitest.Fault { return &apitest.Fault{Status: rejection(), Stored: true} }
	for name, test := range map[string]struct {
		generate, before, alone bool
		inThird                 func(*prover) *apitest.Fault
		want                    string
	}{
		"nothing is stored":          {want: "passed passed passed passed passed"},
		"nothing, each alone":        {alone: true, want: "passed passed passed passed passed"},
		"it was there before":        {before: true, want: "passed passed passed passed passed"},
		"it was there before, alone": {before: true, alone: true, want: "passed passed passed passed passed"},
		"it is stored":               {inThird: stored, want: "passed passed error passed passed"},
		"it is stored, alone":        {inThird: stored, alone: true, want: "passed passed error passed passed"},
		"by a generated name":        {generate: true, inThird: stored, want: "error error error error error"},
		"by a generated name, alone": {
			generate: true, inThird: stored, alone: true,
			want: "passed passed error passed passed",
		},
		"it is accepted": {
			generate: true, inThird: func(*prover) *apitest.Fault { return nil },
			want: "passed passed failed passed passed",
		},
		"it is accepted, one after one": {
			generate: true, inThird: func(*prover) *apitest.Fault { return nil }, alone: true,
			want: "passed passed failed passed passed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProver(t, test.inThird)
			p.server.Unmanaged()
			if test.before {
				p.server.Put("configmaps", map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap",
					"metadata": map[string]any{"name": "a-3", "namespace": "ns"},
				})
			}
			if test.alone {
				p.proof = nil
			}
			var verdicts []Verdict
			var held []int
			for n := range 5 {
				metadata := map[string]any{"name": fmt.Sprintf("a-%d", n+1)}
				if test.generate {
					metadata = map[string]any{"generateName": "a-"}
				}
				verdicts = append(verdicts, p.send(t.Context(), named(metadata)))
				if verdicts[n].Held {
					held = append(held, n)
				}
			}
			for i, v := range p.proof.Prove(t.Context()) {
				verdicts[held[i]] = v
			}
			var got []string
			for _, v := range verdicts {
				got = append(got, string(v.Status))
				if v.Status == reports.Error && !strings.Contains(v.Message, "no managed fields that show who created it") {
					t.Error(v.Message)
				}
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

// If the proof cannot watch, or would have to list too much, each rejection is checked by itself.
func TestRejectionsThatAreNotHeld(t *testing.T) {
	for name, prepare := range map[string]func(*prover){
		"no watch": func(p *prover) {
			p.server.Misbehave(func(r apitest.Request) *apitest.Fault {
				switch r.Verb {
				case "create":
					return &apitest.Fault{Status: rejection()}
				case "watch":
					return &apitest.Fault{Status: apitest.Status(http.StatusMethodNotAllowed, "MethodNotAllowed", "no")}
				}
				return nil
			})
		},
		"too many": func(p *prover) {
			for n := range 6 {
				p.server.Put("configmaps", map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap",
					"metadata": map[string]any{"name": fmt.Sprint(n), "namespace": "ns"},
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProver(t, nil)
			prepare(p)
			for n := range 3 {
				if v := p.send(t.Context(), named(map[string]any{"name": "a"})); v.Held || v.Status != reports.Passed {
					t.Errorf("held: %t; %s: %s", v.Held, v.Status, v.Message)
				}
				if got := p.server.Requests("get", "ConfigMap"); got != 2*(n+1) { // one before the write and one after it
					t.Errorf("%d gets after %d writes", got, n+1)
				}
			}
		})
	}
	p := newProver(t, nil)
	if v := p.send(t.Context(), named(map[string]any{"name": "a"})); !v.Held {
		t.Error("the first was not held")
	}
	if v := p.send(t.Context(), named(map[string]any{"name": "a", "namespace": "other"})); v.Held {
		t.Error("one in another namespace was held")
	}
	p.proof.watcher.Stop()
	golden.Must(t, p.await(func() bool { return p.proof.broken }))
	if v := p.send(t.Context(), named(map[string]any{"name": "a"})); v.Held || v.Status != reports.Passed {
		t.Errorf("after the watch broke: held: %t; %s: %s", v.Held, v.Status, v.Message)
	}
	if verdicts := p.proof.Prove(t.Context()); len(verdicts) != 1 || verdicts[0].Status != reports.Passed {
		t.Errorf("got %+v", verdicts)
	}
}

// The list is retried until the timeout, page by page. A rejection that could not be checked does not pass.
func TestProofWithoutALookIsNoVerdict(t *testing.T) {
	p := newProver(t, nil)
	for range 2 {
		p.send(t.Context(), named(map[string]any{"name": "a"}))
	}
	for n := range page + 1 {
		p.server.Put("configmaps", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": fmt.Sprint(n), "namespace": "ns"},
		})
	}
	p.server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "list" && r.Number == 3 {
			return &apitest.Fault{Status: apitest.Status(410, "Expired", "the continue token is too old")}
		}
		return nil
	})
	for _, v := range p.proof.Prove(t.Context()) {
		if v.Status != reports.Passed {
			t.Errorf("%s: %s", v.Status, v.Message)
		}
	}
	if got := p.server.Requests("list", "ConfigMap"); got != 5 {
		t.Errorf("%d lists, want one before, one that failed after its first page, and one of two pages", got)
	}
	p.server.Misbehave(nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	newer := newProver(t, nil)
	newer.send(ctx, named(map[string]any{"name": "a"}))
	newer.server.Misbehave(func(apitest.Request) *apitest.Fault {
		cancel(errors.New("stopped by the test"))
		return &apitest.Fault{}
	})
	for _, v := range newer.proof.Prove(ctx) {
		if v.Status != reports.Error || !strings.Contains(v.Message, "it could not be checked") {
			t.Errorf("%s: %s", v.Status, v.Message)
		}
	}
}

// A watch that begins when the patience is over is ended, since nobody receives its events.
func TestAWatchBeginsTooLate(t *testing.T) {
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{maps: "ConfigMapList"})
	w := &Writer{Client: client, Namespace: "ns", Patience: time.Nanosecond}
	proof := w.NewProof(t.Context(), 5)
	defer proof.Close()
	watcher := watch.NewFake()
	client.PrependWatchReactor("configmaps", func(clienttesting.Action) (bool, watch.Interface, error) {
		<-proof.ctx.Done() // the patience is over
		return true, watcher, nil
	})
	op := &operation{verb: "create", effect: effect{makes: true}, kind: &served.Kind{Resource: maps, Namespaced: true}}
	proof.begin(t.Context(), op)
	if !watcher.IsStopped() || proof.watches(op) {
		t.Errorf("stopped: %t, used: %t", watcher.IsStopped(), proof.watches(op))
	}
}
