package writes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// write is how one of the write verbs is sent.
type write struct {
	effect
	// prepare takes what to send from a step.
	prepare func(*operation, *scenarios.Step) error
	// body returns what a step sends, as YAML; nil if the verb sends only a name or a number.
	body func(*scenarios.Step) string
}

// effect is what a write may do to an object.
type effect struct{ makes, changes, removes bool }

// table maps the names of the write verbs to how they are sent.
func table() map[string]write {
	return map[string]write{
		"create": {
			effect{makes: true},
			func(o *operation, s *scenarios.Step) error { return o.setObject(s.Create, sendCreate) },
			func(s *scenarios.Step) string { return render(s.Create) },
		},
		"apply": {
			effect{makes: true, changes: true},
			(*operation).setApply,
			func(s *scenarios.Step) string { return render(s.Apply) },
		},
		"update": {
			effect{changes: true},
			func(o *operation, s *scenarios.Step) error { return o.setObject(s.Update, sendUpdate) },
			func(s *scenarios.Step) string { return render(s.Update) },
		},
		"patch": {
			effect{changes: true},
			func(o *operation, s *scenarios.Step) error { return o.setPatch(*s.Patch) },
			func(s *scenarios.Step) string { return patchBody(s.Patch) },
		},
		"delete": {
			effect{removes: true},
			func(o *operation, s *scenarios.Step) error { return o.setDelete(*s.Delete) }, nil,
		},
		"evict": {
			effect{removes: true},
			func(o *operation, s *scenarios.Step) error { return o.setEvict(*s.Evict) }, nil,
		},
		"scale": {
			effect{changes: true},
			func(o *operation, s *scenarios.Step) error { return o.setScale(*s.Scale) }, nil,
		},
	}
}

// operation is one write, ready to be sent as often as necessary.
type operation struct {
	verb string
	effect
	gvk                           schema.GroupVersionKind
	namespace, name, generateName string
	object                        map[string]any
	manager                       string
	as                            *scenarios.User
	dryRun                        []string
	subresource                   string
	// validation is how the API server treats fields that it does not know.
	validation string
	// sent returns the parts of what is sent that the returned object, of its kind, must have. It is nil if nothing must
	// be found again.
	sent func(got map[string]any) []piece
	// patched lists the top-level fields that a patch touches; nil for other writes.
	patched []string
	// among: others are sent at the same time, and may write the same object.
	among bool
	// either: the step accepts both outcomes, because it counts those of several writes.
	either bool
	// upserts: it is an update of an object that does not exist, so that it may create it, as of a Lease.
	upserts bool
	// rival: another of them removes the same object.
	rival bool
	// repeatable: the write does no harm if it is stored twice.
	repeatable bool
	send       sending
	// settle waits, after the write was accepted, until it takes effect. May be nil.
	settle func(ctx context.Context, w *Writer, op *operation) error

	// kind is set once it is found.
	kind *served.Kind
	// before is the object before the write, if that was looked at; nil if there was none. looked says that it was, for
	// a write that changes something.
	before *unstructured.Unstructured
	looked bool
	// there are the objects without managed fields that existed before a creation, if that was looked at.
	there strangers
	// existed says that the object existed before an apply.
	existed bool
	uid     types.UID
}

// sending sends an operation once.
type sending func(ctx context.Context, api dynamic.ResourceInterface, op *operation) (*unstructured.Unstructured, error)

// creates reports whether the write makes an object, or fails.
func (e effect) creates() bool { return e.makes && !e.changes }

// applies reports whether the write makes an object, or changes the existing one.
func (e effect) applies() bool { return e.makes && e.changes }

// namespaceOf returns the namespace of the object, "" if it is cluster-scoped.
func (o *operation) namespaceOf(w *Writer) string {
	switch {
	case o.kind == nil || !o.kind.Namespaced:
		return ""
	case o.namespace == "":
		return w.Namespace
	default:
		return o.namespace
	}
}

func (o *operation) api(w *Writer) dynamic.ResourceInterface {
	if !o.kind.Namespaced {
		return w.Client.Resource(o.kind.Resource)
	}
	return w.Client.Resource(o.kind.Resource).Namespace(o.namespaceOf(w))
}

// String names the write: create Service web as jane.
func (o *operation) String() string {
	name := o.name
	if name == "" {
		name = o.generateName + "*"
	}
	text := fmt.Sprintf("%s %s %s", o.verb, o.gvk.Kind, name)
	if o.as != nil {
		text += " as " + o.as.User
	}
	return text
}

func (w *Writer) prepare(request Request) (*operation, error) {
	step := request.Step
	op := &operation{
		manager: request.Manager, as: step.As, validation: cmp.Or(step.FieldValidation, scenarios.StrictFields),
	}
	if step.DryRun {
		op.dryRun = []string{metav1.DryRunAll}
	}
	op.verb = step.Verb()
	write, known := table()[op.verb]
	if !known {
		return nil, fmt.Errorf("%q is not a write verb", op.verb)
	}
	op.effect = write.effect
	if err := write.prepare(op, step); err != nil {
		return nil, fmt.Errorf("%s: %w", op.verb, err)
	}
	return op, op.checkName()
}

// setApply sets the field manager of all applies, so that an apply can remove what an earlier one owns.
func (o *operation) setApply(step *scenarios.Step) error {
	o.manager, o.repeatable = ApplyManager, true
	return o.setObject(step.Apply, sendApply)
}

func (o *operation) setObject(object scenarios.Object, send sending) error {
	o.send = send
	plain, err := plain(object)
	if err != nil {
		return err
	}
	o.object, o.sent = plain, whole(plain)
	u := unstructured.Unstructured{Object: plain}
	if err := o.setReference(scenarios.ObjectReference{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Name: u.GetName(), Namespace: u.GetNamespace(),
	}); err != nil {
		return err
	}
	o.generateName = u.GetGenerateName()
	return nil
}

func (o *operation) setReference(ref scenarios.ObjectReference) error {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil || gv.Version == "" || ref.Kind == "" {
		return fmt.Errorf("apiVersion %q and kind %q do not name a kind", ref.APIVersion, ref.Kind)
	}
	o.gvk = gv.WithKind(ref.Kind)
	o.name, o.namespace = ref.Name, ref.Namespace
	return nil
}

// checkName finds names that cannot reach an API server, because no URL can hold them. A create has its name in the
// body.
func (o *operation) checkName() error {
	switch {
	case o.creates():
		return nil
	case o.name == "":
		return fmt.Errorf("%s %s: the object needs a metadata.name", o.verb, o.gvk.Kind)
	}
	if problems := rest.IsValidPathSegmentName(o.name); len(problems) > 0 {
		return fmt.Errorf("%s %s: the name %q cannot be sent to an API server: it %s", o.verb, o.gvk.Kind,
			o.name, problems[0])
	}
	return nil
}

// whole is an object, or a part of one, as what was sent.
func whole(object map[string]any) func(map[string]any) []piece {
	return func(got map[string]any) []piece { return []piece{{Value: significant(object, got)}} }
}

// plain converts an object to JSON's own types, which client-go can copy.
func plain[M ~map[string]any](object M) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write the object as JSON: %w", err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read the object from JSON: %w", err)
	}
	return out, nil
}

// body returns a copy of the object, in its namespace.
func (o *operation) body() *unstructured.Unstructured {
	u := (&unstructured.Unstructured{Object: o.object}).DeepCopy()
	if o.namespace != "" {
		u.SetNamespace(o.namespace)
	}
	return u
}

// withMetadata returns a copy of an object with one more field in its metadata.
func withMetadata(object *unstructured.Unstructured, key string, value any) *unstructured.Unstructured {
	metadata, _ := object.Object["metadata"].(map[string]any)
	next := map[string]any{}
	maps.Copy(next, metadata)
	next[key] = value
	out := object.DeepCopy()
	out.Object["metadata"] = next
	return out
}
