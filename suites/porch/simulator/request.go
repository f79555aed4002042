package simulator

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

// request is the state of a write.
type request struct {
	way engine.Way
	// name is the name that the object must have; "" for any.
	name string
	// unjudged: the write is the simulator's own, and is not validated.
	unjudged bool
	// content is the content to record in the object.
	content *v1alpha1.GitLock
	// prepared is the change of a repository. It is pushed after the last check, when nothing can reject the write any
	// more.
	prepared *packages.Prepared
}

type requestKey struct{}

func withRequest(ctx context.Context, r *request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// push applies the prepared change to the repository.
func (r *request) push(ctx context.Context) error {
	if r.prepared == nil {
		return nil
	}
	return r.prepared.Push(ctx)
}

// creation returns a check of a new object. After the given check, it pushes, unless this is a dry run.
func (r *request) creation(dryRun []string, check rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	return func(ctx context.Context, object runtime.Object) error {
		if check != nil {
			if err := check(ctx, object); err != nil {
				return err
			}
		}
		if len(dryRun) > 0 {
			return nil
		}
		return r.push(ctx)
	}
}

// update returns a check of a changed object. After the given check, it pushes, unless this is a dry run.
func (r *request) update(dryRun []string, check rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	return func(ctx context.Context, object, before runtime.Object) error {
		if check != nil {
			if err := check(ctx, object, before); err != nil {
				return err
			}
		}
		if len(dryRun) > 0 {
			return nil
		}
		return r.push(ctx)
	}
}

// locks allow only one write at a time in a namespace, so that a check is still valid when the write is stored.
type locks struct {
	all     sync.Map // from namespace to *sync.Mutex
	updated sync.Map // namespace/name of the revisions that are being updated
}

// begin notes an update of a revision until it ends. It returns false if another one has not ended.
func (l *locks) begin(namespace, name string) (end func(), alone bool) {
	key := namespace + "/" + name
	_, busy := l.updated.LoadOrStore(key, true)
	return func() { l.updated.Delete(key) }, !busy
}

func (l *locks) lock(namespace string) (unlock func()) {
	lock, _ := l.all.LoadOrStore(namespace, &sync.Mutex{})
	mutex := lock.(*sync.Mutex)
	mutex.Lock()
	return mutex.Unlock
}

// versioned is an update that must name the version of the object.
type versioned struct {
	rest.UpdatedObjectInfo
	check func(ctx context.Context, after, before runtime.Object) error
}

// UpdatedObject returns the updated object, and an error if it names no version.
func (v versioned) UpdatedObject(ctx context.Context, before runtime.Object) (runtime.Object, error) {
	after, err := v.UpdatedObjectInfo.UpdatedObject(ctx, before)
	if err != nil {
		return nil, err
	}
	return after, v.check(ctx, after, before)
}

// unconditional removes the required version from a deletion, so that any version is deleted.
func unconditional(options *metav1.DeleteOptions) *metav1.DeleteOptions {
	if options == nil || options.Preconditions == nil {
		return options
	}
	plain := options.DeepCopy()
	plain.Preconditions.ResourceVersion = nil
	return plain
}
