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

// request is what is known of a write while it is carried out.
type request struct {
	way engine.Way
	// name that the object must have, "" when it may have any.
	name string
	// unjudged writes are the simulator's own.
	unjudged bool
	// content to record.
	content *v1alpha1.GitLock
	// prepared is what the write does to a repository, once nothing can refuse it any more.
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

// push does to the repository what was prepared.
func (r *request) push(ctx context.Context) error {
	if r.prepared == nil {
		return nil
	}
	return r.prepared.Push(ctx)
}

// creation pushes after the last check of a new object.
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

// update pushes after the last check of a changed object.
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

// locks let one write at a time into a namespace, so that what one has looked at is still so when it stores.
type locks struct {
	all sync.Map // of *sync.Mutex, by namespace
}

func (l *locks) lock(namespace string) (unlock func()) {
	lock, _ := l.all.LoadOrStore(namespace, &sync.Mutex{})
	mutex := lock.(*sync.Mutex)
	mutex.Lock()
	return mutex.Unlock
}

// versioned is an update that must name the version of what it changes.
type versioned struct {
	rest.UpdatedObjectInfo
	check func(ctx context.Context, after, before runtime.Object) error
}

// UpdatedObject judges the version first: it is there, or it is not.
func (v versioned) UpdatedObject(ctx context.Context, before runtime.Object) (runtime.Object, error) {
	after, err := v.UpdatedObjectInfo.UpdatedObject(ctx, before)
	if err != nil {
		return nil, err
	}
	return after, v.check(ctx, after, before)
}

// unconditional takes what a deletion says of versions away from it: a deletion is of whatever there is.
func unconditional(options *metav1.DeleteOptions) *metav1.DeleteOptions {
	if options == nil || options.Preconditions == nil {
		return options
	}
	plain := options.DeepCopy()
	plain.Preconditions.ResourceVersion = nil
	return plain
}
