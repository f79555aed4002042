package liberty

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// The liberties that any client that writes objects can take.
const (
	Conflicts    = "conflicts"
	AnswersLost  = "answers-lost"
	WrittenTwice = "written-twice"
	MadeTwice    = "made-twice"
	MoreMetadata = "more-metadata"
	LooseOwners  = "owners-do-not-block"
)

// Mark is the key of the label and annotation that objects get as additional metadata.
const Mark = "liberties.rehearse.dev/taken"

// often is the probability that an update conflicts. seldom is the probability that the answer to a write is lost.
const often, seldom = 1.0 / 4, 1.0 / 6

// Client returns a function that creates clients with the liberties. twice reports which objects may be created twice;
// if it is nil, none may.
func (s Set) Client(twice func(client.Object) bool) client.NewClientFunc {
	return func(config *rest.Config, options client.Options) (client.Client, error) {
		c, err := client.NewWithWatch(config, options)
		if err != nil {
			return nil, err
		}
		w := writer{Set: s, twice: twice}
		return interceptor.NewClient(c, interceptor.Funcs{
			Create: w.create, Update: w.update, Patch: w.patch, Delete: w.delete, SubResourceUpdate: w.updateSub,
			SubResourcePatch: w.patchSub,
		}), nil
	}
}

// writer writes objects, and takes the liberties.
type writer struct {
	Set
	twice func(client.Object) bool
}

func (w writer) create(ctx context.Context, c client.WithWatch, object client.Object,
	options ...client.CreateOption,
) error {
	w.adorn(object)
	wanted, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("copy %T %s", object, object.GetName())
	}
	if err := c.Create(ctx, object, options...); err != nil {
		return err
	}
	if w.twice != nil && w.twice(object) && w.Takes(MadeTwice) {
		if err := makeAgain(ctx, c, object, wanted, options); err != nil {
			return err
		}
	}
	return w.written(ctx, c, object, "create")
}

// makeAgain deletes an object that was just created, and creates it again.
func makeAgain(ctx context.Context, c client.Client, object, wanted client.Object,
	options []client.CreateOption,
) error {
	uid := object.GetUID()
	err := c.Delete(ctx, object, client.Preconditions{UID: &uid},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	for deadline := time.Now().Add(5 * time.Second); ; {
		again, ok := wanted.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("copy %T %s", wanted, wanted.GetName())
		}
		err := c.Create(ctx, again, options...)
		if err == nil {
			reflect.ValueOf(object).Elem().Set(reflect.ValueOf(again).Elem())
		}
		if !apierrors.IsAlreadyExists(err) || time.Now().After(deadline) || !pauses.For(ctx, 50*time.Millisecond) {
			return err
		}
	}
}

func (w writer) update(ctx context.Context, c client.WithWatch, object client.Object,
	options ...client.UpdateOption,
) error {
	if w.happens(Conflicts, "update "+object.GetName(), often) {
		return conflict(c, object)
	}
	if err := c.Update(ctx, object, options...); err != nil {
		return err
	}
	return w.written(ctx, c, object, "update")
}

func (w writer) patch(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch,
	options ...client.PatchOption,
) error {
	if err := c.Patch(ctx, object, patch, options...); err != nil {
		return err
	}
	return w.written(ctx, c, object, "patch")
}

func (w writer) delete(ctx context.Context, c client.WithWatch, object client.Object,
	options ...client.DeleteOption,
) error {
	if err := c.Delete(ctx, object, options...); err != nil {
		return err
	}
	return w.lost(object, "delete")
}

func (w writer) updateSub(ctx context.Context, c client.Client, name string, object client.Object,
	options ...client.SubResourceUpdateOption,
) error {
	if w.happens(Conflicts, name+" "+object.GetName(), often) {
		return conflict(c, object)
	}
	if err := c.SubResource(name).Update(ctx, object, options...); err != nil {
		return err
	}
	return w.written(ctx, c, object, name)
}

func (w writer) patchSub(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch,
	options ...client.SubResourcePatchOption,
) error {
	if err := c.SubResource(name).Patch(ctx, object, patch, options...); err != nil {
		return err
	}
	return w.written(ctx, c, object, name)
}

// written runs after a successful write. With a liberty, it writes to the object once more. With another one, it
// reports that the answer was lost.
func (w writer) written(ctx context.Context, c client.Client, object client.Object, what string) error {
	if w.Takes(WrittenTwice) {
		text := fmt.Sprintf(`{"metadata":{"annotations":{"liberties.rehearse.dev/written":%q}}}`,
			time.Now().Format(time.RFC3339Nano))
		again, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("copy %T %s", object, object.GetName())
		}
		err := c.Patch(ctx, again, client.RawPatch(types.MergePatchType, []byte(text)))
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return w.lost(object, what)
}

// lost sometimes returns an error although the write was successful, as if the answer had not arrived.
func (w writer) lost(object client.Object, what string) error {
	if w.happens(AnswersLost, what+" "+object.GetName(), seldom) {
		return fmt.Errorf("%s %s: the answer was lost: %w", what, object.GetName(), errLiberty)
	}
	return nil
}

// adorn changes the metadata of a new object: it adds some, or makes the owner references non-blocking.
func (w writer) adorn(object client.Object) {
	if w.Takes(MoreMetadata) {
		Adorn(object)
	}
	if len(object.GetOwnerReferences()) > 0 && w.Takes(LooseOwners) {
		owners := slices.Clone(object.GetOwnerReferences())
		for i := range owners {
			owners[i].BlockOwnerDeletion = nil
		}
		object.SetOwnerReferences(owners)
	}
}

// Adorn adds a label and an annotation to an object.
func Adorn(object metav1.Object) {
	with := func(table map[string]string) map[string]string {
		table = maps.Clone(table)
		if table == nil {
			table = map[string]string{}
		}
		table[Mark] = "yes"
		return table
	}
	object.SetLabels(with(object.GetLabels()))
	object.SetAnnotations(with(object.GetAnnotations()))
}

func kindOf(c client.Client, object client.Object) string {
	gvk, err := c.GroupVersionKindFor(object)
	if err != nil {
		return ""
	}
	return gvk.Kind
}

func conflict(c client.Client, object client.Object) error {
	resource := schema.GroupResource{Resource: strings.ToLower(kindOf(c, object)) + "s"}
	return apierrors.NewConflict(resource, object.GetName(),
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}
