package survey

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Manager is the field manager of the dry runs. It never owns anything that is stored.
const Manager = "rehearse-upgrade"

// probers is how many targets are probed at once.
const probers = 8

var everything = []string{metav1.DryRunAll}

// probeAll sends the dry runs for every target.
func (s *Survey) probeAll(ctx context.Context, found *observation) {
	var mu sync.Mutex
	var working errgroup.Group
	working.SetLimit(probers)
	asked, down := s.sampled(found.targets), &outages{}
	for i, t := range asked {
		working.Go(func() error {
			p := s.newProbe(found, t)
			p.down = down
			mu.Lock()
			p.had = s.had[t.UID]
			mu.Unlock()
			p.note = func(check Check, o Outcome) {
				mu.Lock()
				defer mu.Unlock()
				s.note(t, check, o)
			}
			p.all(ctx)
			mu.Lock()
			s.had[t.UID] = p.had
			mu.Unlock()
			return nil
		})
		if (i+1)%1000 == 0 {
			s.options.Progress("%d of %d objects checked", i+1, len(asked))
		}
	}
	_ = working.Wait() // each probe notes its errors
}

// probe sends the dry runs of one target.
type probe struct {
	target *Target
	object *unstructured.Unstructured
	served *inventory.Kind
	api    dynamic.ResourceInterface
	// version is that of the api: a custom kind may have a status in some versions only.
	version string
	// given is where the manifest would be written; nil if its version is not served, which unserved reports.
	given    dynamic.ResourceInterface
	unserved Outcome
	note     func(Check, Outcome)
	// had are the subresources that the object had, now or at an earlier state.
	had subresources
	// down are the webhooks that do not answer at this state.
	down *outages
	// warnings are those about the manifest.
	warnings []string
}

func (s *Survey) newProbe(found *observation, t *Target) *probe {
	version, own := found.version(t)
	p := &probe{
		target: t, served: found.Kinds[t.GVK.GroupKind()], object: found.object(t, version),
		unserved: found.versionNotServed(t),
	}
	if p.object == nil {
		p.object = found.object(t, "")
		version = p.object.GroupVersionKind().Version
	}
	in := func(version string) dynamic.ResourceInterface {
		resource := s.client.Resource(p.served.In(t.GVK.Group, version))
		if !p.served.Namespaced {
			return resource
		}
		return resource.Namespace(t.Namespace)
	}
	p.api, p.version = in(version), version
	if own && t.Given != nil {
		p.given = in(t.GVK.Version) // the list of that version may have failed, unlike that of p.api
	}
	return p
}

func (p *probe) all(ctx context.Context) {
	if p.label(ctx) {
		p.note(Update, Outcome{Answer: Good}) // an accepted label answers it: this write changes less
	} else {
		p.write(ctx, Update, func(ctx context.Context) error {
			_, err := p.api.Update(ctx, p.object, metav1.UpdateOptions{DryRun: everything, FieldManager: Manager})
			return err
		})
	}
	if len(p.object.GetFinalizers()) > 0 {
		p.write(ctx, Finalizer, func(ctx context.Context) error {
			_, err := p.patch(ctx, map[string]any{"finalizers": nil})
			return err
		})
	}
	switch { // a later state may not serve a subresource
	case slices.Contains(p.served.StatusIn, p.version):
		p.had.status = true
		p.status(ctx)
	case p.had.status && len(p.served.StatusIn) == 0:
		p.note(Status, Outcome{Answer: Bad, Words: "its kind has no status subresource any more"})
	}
	if p.served.Scalable || p.had.scale {
		p.resize(ctx)
	}
	if p.served.Evictable {
		p.write(ctx, Evict, p.evict)
	}
	if !permanent(p.target) {
		p.write(ctx, Delete, func(ctx context.Context) error {
			return p.api.Delete(ctx, p.target.Name, metav1.DeleteOptions{DryRun: everything})
		})
	}
	if p.target.Given == nil {
		return
	}
	defer p.warn()
	if p.given == nil {
		p.note(Create, p.unserved)
		p.note(Apply, p.unserved)
		return
	}
	p.write(ctx, Create, func(ctx context.Context) error {
		_, err := p.given.Create(ctx, p.anew(), metav1.CreateOptions{DryRun: everything, FieldManager: Manager})
		// The API server says that it exists only after it has validated it. The quota is the last admission plugin; the
		// object that exists may have filled it.
		if apierrors.IsAlreadyExists(err) || writes.ExceedsQuota(err) {
			return nil
		}
		return err
	})
	p.write(ctx, Apply, func(ctx context.Context) error {
		_, err := p.given.Apply(ctx, p.target.Name, p.manifest(), metav1.ApplyOptions{
			DryRun:       everything,
			FieldManager: Manager, Force: true,
		})
		return err
	})
}

// permanent reports whether an object is one of those that an API server never deletes.
func permanent(t *Target) bool {
	switch t.GVK.GroupKind() {
	case schema.GroupKind{Kind: "Namespace"}:
		return slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, t.Name)
	case schema.GroupKind{Group: schedulingv1.GroupName, Kind: "PriorityClass"}:
		return strings.HasPrefix(t.Name, "system-")
	}
	return false
}

// label is the key that a dry run sets.
const label = "rehearse.dev/survey"

// label adds a label, and checks that the API server would keep everything else.
func (p *probe) label(ctx context.Context) (accepted bool) {
	var labelled *unstructured.Unstructured
	accepted = p.write(ctx, Label, func(ctx context.Context) (err error) {
		labelled, err = p.patch(ctx, map[string]any{
			"labels": map[string]any{label: "x"}, "resourceVersion": p.object.GetResourceVersion(),
		})
		return err
	})
	if accepted {
		labels := labelled.GetLabels()
		delete(labels, label)
		labelled.SetLabels(labels)
		p.note(Keep, kept(p.target.GVK.Kind, "a label", own(p.object), own(labelled)))
	}
	return accepted
}

// status writes the status unchanged, and checks that the API server would keep it.
func (p *probe) status(ctx context.Context) {
	var written *unstructured.Unstructured
	accepted := p.write(ctx, Status, func(ctx context.Context) (err error) {
		written, err = p.api.UpdateStatus(ctx, p.object, metav1.UpdateOptions{DryRun: everything, FieldManager: Manager})
		return err
	})
	if accepted {
		p.note(Keep, kept(p.target.GVK.Kind, "a write of the status", statusOf(p.object), statusOf(written)))
	}
}

func (p *probe) patch(ctx context.Context, metadata map[string]any) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encode a patch of %s as JSON: %w", p.target, err)
	}
	return p.api.Patch(ctx, p.target.Name, types.MergePatchType, body, metav1.PatchOptions{
		DryRun:       everything,
		FieldManager: Manager,
	})
}

// manifest is the given object, in its namespace, without what an export from another cluster adds.
func (p *probe) manifest() *unstructured.Unstructured {
	o := p.target.Given.Content.DeepCopy()
	if p.served.Namespaced {
		o.SetNamespace(p.target.Namespace)
	}
	for _, field := range []string{
		"managedFields", "resourceVersion", "uid", "deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	return o
}

// anew is the manifest for a new cluster: without the addresses and ports that this cluster allocated, and without
// being the default, of which there can be only one.
func (p *probe) anew() *unstructured.Unstructured {
	o := p.manifest()
	if o.GetKind() == "PriorityClass" && p.target.GVK.Group == schedulingv1.GroupName {
		unstructured.RemoveNestedField(o.Object, "globalDefault")
	}
	if o.GetKind() != "Service" || p.target.GVK.Group != "" {
		return o
	}
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		if ip, _, _ := unstructured.NestedString(o.Object, "spec", field); ip != "None" {
			unstructured.RemoveNestedField(o.Object, "spec", field)
		}
	}
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	for _, port := range ports {
		if fields, ok := port.(map[string]any); ok {
			delete(fields, "nodePort")
		}
	}
	if ports != nil {
		_ = unstructured.SetNestedSlice(o.Object, ports, "spec", "ports") // cannot fail: they were read from there
	}
	return o
}

// write sends a dry run and notes its outcome. After a conflict, because another client wrote the object, it reads
// the object and retries.
func (p *probe) write(ctx context.Context, check Check, send func(context.Context) error) (accepted bool) {
	ctx, warned := writes.WithWarnings(ctx)
	outcome, err := p.down.persist(ctx, send)
	for range 5 {
		if !apierrors.IsConflict(err) {
			break
		}
		fresh, readErr := p.api.Get(ctx, p.target.Name, metav1.GetOptions{})
		if readErr != nil {
			break
		}
		p.object = fresh
		outcome, err = p.down.persist(ctx, send)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // if it is gone, its UID may conflict
		if fresh, readErr := p.api.Get(ctx, p.target.Name, metav1.GetOptions{}); apierrors.IsNotFound(readErr) ||
			readErr == nil && string(fresh.GetUID()) != p.target.UID {
			return false // it was deleted meanwhile, which the check "moved" reports
		}
	}
	if ctx.Err() != nil {
		return false // the survey was interrupted, so this state is not judged
	}
	if apierrors.IsConflict(err) {
		outcome = writes.Unknown // others write it so often that each dry run conflicts
	}
	switch outcome {
	case writes.Accepted:
		p.note(check, Outcome{Answer: Good})
	case writes.Rejected:
		p.note(check, Outcome{Answer: Bad, Words: writes.Words(err)})
	default:
		p.note(check, Outcome{Answer: Unknown, Words: writes.Words(err)})
	}
	if check == Create || check == Apply {
		p.warnings = append(p.warnings, warned()...)
	}
	return outcome == writes.Accepted
}

// warn notes the warnings about the manifest. Warnings of the other dry runs are about the stored object.
func (p *probe) warn() {
	slices.Sort(p.warnings)
	words := strings.Join(slices.Compact(p.warnings), betweenParts)
	p.note(Warning, Outcome{Answer: Good, Words: words, Class: words})
}
