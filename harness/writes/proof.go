package writes

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// page is how many objects are listed at once.
const page = 500

// Proof checks once, for many rejected creations of one kind in one namespace, whether any of them stored something. A
// watch reports what is stored meanwhile, as long as it lasts even what is deleted again, and one consistent list at
// the end returns all that is there. An object's field manager shows which creation made it, under whatever name. If
// this costs more than a check of each creation, or is not possible, nothing is held. It is not safe for concurrent
// use.
type Proof struct {
	w    *Writer
	ctx  context.Context
	stop context.CancelFunc
	// most is how many objects a list may have for the proof to be worth it.
	most int64

	began     bool
	api       dynamic.ResourceInterface
	kind      served.Kind
	namespace string
	watcher   watch.Interface
	held      []held

	mu sync.Mutex
	// made is the object that each field manager was seen to have written.
	made   map[string]*unstructured.Unstructured
	broken bool
	// there are the strangers that none of the rejected creations made. came are all that were seen since.
	there strangers
	came  []*unstructured.Unstructured
}

// held is a rejected creation that has not been checked yet: it may have stored something.
type held struct {
	op     *operation
	step   *scenarios.Step
	answer answer
}

// NewProof returns a Proof for that many creations, which follow one another and should be rejected. It must be
// closed.
func (w *Writer) NewProof(ctx context.Context, creations int) *Proof {
	p := &Proof{w: w, most: int64(creations), made: map[string]*unstructured.Unstructured{}, there: strangers{}}
	p.ctx, p.stop = context.WithCancel(ctx)
	return p
}

// begin watches the kind, starting before the first creation.
func (p *Proof) begin(ctx context.Context, op *operation) {
	if p == nil || p.began || !op.creates() || op.kind.Unstored {
		return
	}
	p.began = true
	api := op.api(p.w)
	list, err := api.List(ctx, metav1.ListOptions{Limit: p.most})
	if err != nil || list.GetContinue() != "" {
		return
	}
	patience := time.AfterFunc(cmp.Or(p.w.Patience, defaultPatience), p.stop)
	watcher, err := api.Watch(p.ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return
	}
	if !patience.Stop() {
		watcher.Stop() // nobody receives its events
		return
	}
	for i := range list.Items {
		p.there.add(&list.Items[i])
	}
	p.api, p.kind, p.namespace, p.watcher = api, *op.kind, op.namespaceOf(p.w), watcher
	go p.follow(watcher)
}

func (p *Proof) follow(watcher watch.Interface) {
	for event := range watcher.ResultChan() {
		if object, ok := event.Object.(*unstructured.Unstructured); ok {
			p.note(object)
		}
	}
	p.mu.Lock()
	p.broken = true
	p.mu.Unlock()
}

func (p *Proof) note(object *unstructured.Unstructured) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, entry := range object.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate {
			p.made[entry.Manager] = object
		}
	}
	if p.there.isNew(object) {
		p.came = append(p.came, object)
	}
}

// stranger returns one that the creation may have made; nil if there is none.
func (p *Proof) stranger(op *operation) *unstructured.Unstructured {
	for _, object := range p.came {
		named := op.name == object.GetName() || op.name == "" && strings.HasPrefix(object.GetName(), op.generateName)
		if named && p.there.isNew(object) {
			return object
		}
	}
	return nil
}

// accept notes an object that was not rejected.
func (p *Proof) accept(object *unstructured.Unstructured) {
	if p == nil || object == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.there.add(object)
}

// watches reports whether rejections of such a creation are held.
func (p *Proof) watches(op *operation) bool {
	return p != nil && p.watcher != nil && op.creates() && *op.kind == p.kind && op.namespaceOf(p.w) == p.namespace
}

// hold keeps a rejection until Prove. It returns false if the rejection must be checked at once.
func (p *Proof) hold(op *operation, step *scenarios.Step, a answer) bool {
	if !p.watches(op) || a.outcome != Rejected {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.broken {
		p.held = append(p.held, held{op, step, a})
	}
	return !p.broken
}

// Prove returns a verdict on each rejection that was held, in order, and then holds none. It tries to look until the
// context ends.
func (p *Proof) Prove(ctx context.Context) []Verdict {
	if p == nil || len(p.held) == 0 {
		return nil
	}
	there, err := p.list(ctx)
	var verdicts []Verdict
	for _, h := range p.held {
		a := h.answer
		p.mu.Lock()
		object, stranger := p.made[h.op.manager], p.stranger(h.op)
		p.mu.Unlock()
		switch {
		case object != nil:
			a.stored, a.object = true, object
			if err == nil && !there[string(object.GetUID())] {
				a.note = "it is gone again"
			}
		case err != nil:
			a = unseen(a, err)
		case stranger != nil:
			a.doubt = strange(stranger)
		}
		p.w.tell(h.op, a)
		verdicts = append(verdicts, p.w.compare(ctx, h.op, h.step, a))
	}
	p.held = nil
	return verdicts
}

// list notes all objects, by a consistent read, and returns the UIDs.
func (p *Proof) list(ctx context.Context) (map[string]bool, error) {
	again, there, options := p.w.pauses(), map[string]bool{}, metav1.ListOptions{Limit: page}
	for {
		limited, cancel := context.WithTimeout(ctx, cmp.Or(p.w.Patience, defaultPatience))
		list, err := p.api.List(limited, options)
		cancel()
		if err != nil {
			options.Continue = "" // the token may be the problem
			if !pauses.Wait(ctx, again) {
				return nil, fmt.Errorf("list %s: %w", p.kind.Resource.Resource, err)
			}
			continue
		}
		for i := range list.Items {
			p.note(&list.Items[i])
			there[string(list.Items[i].GetUID())] = true
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return there, nil
		}
	}
}

// Close ends the watch.
func (p *Proof) Close() {
	if p != nil {
		p.stop()
	}
}
