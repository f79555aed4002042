// Package backends is the contract between Grove's operator and schedulers: what a backend does for its scheduler, and
// how the operator finds it. A backend that the operator knows nothing of needs this package alone.
package backends

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
)

// SchedulerBackend is what GREP-375 wants of a backend.
type SchedulerBackend interface {
	// Name is the backend's name, unique: the schedulerName of its pods.
	Name() string
	// Init is called once at the operator's start, before any controller. An error keeps the operator from starting.
	Init() error
	// SyncPodGang makes the scheduler's own resources for a PodGang, or brings them up to date; with owner references they
	// go with it. It is called when a PodGang was created or its spec has changed.
	SyncPodGang(ctx context.Context, gang *scheduler.PodGang) error
	// OnPodGangDelete cleans up for a PodGang that is gone; a no-op where owner references do it.
	OnPodGangDelete(ctx context.Context, gang *scheduler.PodGang) error
	// PreparePod gives a pod, before its creation, what the scheduler needs on it: schedulerName, annotations. The pod has
	// its labels and gates already.
	PreparePod(pod *corev1.Pod)
	// ValidatePodCliqueSet rejects a PodCliqueSet that asks for what the scheduler cannot do and must.
	ValidatePodCliqueSet(ctx context.Context, set *api.PodCliqueSet) error
}

// PassThrough is a backend that admits what its scheduler cannot do.
type PassThrough interface {
	// Unsupported says, one sentence each, what a PodCliqueSet asks for and does not get. The operator writes it into the
	// PodCliqueSet's status.
	Unsupported(set *api.PodCliqueSet) []string
}

// ObjectPreparer is a backend whose scheduler needs fields of pods that Kubernetes' Go types of this build do not have.
type ObjectPreparer interface {
	// PrepareObject is called after PreparePod.
	PrepareObject(pod *unstructured.Unstructured) error
}

// Environment is what a backend is made with.
type Environment struct {
	// Client writes, and reads past any cache.
	Client client.Client
	// Discovery says what the API server serves.
	Discovery discovery.ServerResourcesInterface
	// Scheme of the client.
	Scheme *runtime.Scheme
	// Profile of the backend in the OperatorConfiguration; empty but for its name where none is.
	Profile config.SchedulerProfile
}

// Factory makes a backend; an error says that its options are wrong.
type Factory func(Environment) (SchedulerBackend, error)
