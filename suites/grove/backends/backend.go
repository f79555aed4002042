// Package backends is the contract between Grove's operator and schedulers: what a backend does for its scheduler,
// and how the operator finds it. A backend that is not part of the operator needs only this package.
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

// SchedulerBackend is what GREP-375 requires of a backend.
type SchedulerBackend interface {
	// Name is the backend's unique name, which is the schedulerName of its pods.
	Name() string
	// Init is called once when the operator starts, before any controller runs. If it returns an error, the operator
	// does not start.
	Init() error
	// SyncPodGang creates or updates the scheduler's own resources for a PodGang. With owner references, they are
	// deleted with the PodGang. It is called when a PodGang was created or its spec has changed.
	SyncPodGang(ctx context.Context, gang *scheduler.PodGang) error
	// OnPodGangDelete cleans up after a PodGang was deleted. It does nothing if owner references are enough.
	OnPodGangDelete(ctx context.Context, gang *scheduler.PodGang) error
	// PreparePod sets what the scheduler needs on a pod before its creation, such as schedulerName and annotations. The
	// pod already has its labels and gates.
	PreparePod(pod *corev1.Pod)
	// ValidatePodCliqueSet rejects a PodCliqueSet that requires what the scheduler does not support.
	ValidatePodCliqueSet(ctx context.Context, set *api.PodCliqueSet) error
}

// PassThrough is a backend that accepts some requests that its scheduler does not support.
type PassThrough interface {
	// Unsupported returns one sentence for each request of a PodCliqueSet that is not supported. The operator writes
	// them into the PodCliqueSet's status.
	Unsupported(set *api.PodCliqueSet) []string
}

// ObjectPreparer is a backend whose scheduler needs fields of pods that this build's Go types do not have.
type ObjectPreparer interface {
	// PrepareObject is called after PreparePod.
	PrepareObject(pod *unstructured.Unstructured) error
}

// Environment is what a backend is created with.
type Environment struct {
	// Client reads and writes without a cache.
	Client client.Client
	// Discovery says what the API server serves.
	Discovery discovery.ServerResourcesInterface
	// Scheme of the client.
	Scheme *runtime.Scheme
	// Profile of the backend in the OperatorConfiguration. If there is none, only the name is set.
	Profile config.SchedulerProfile
}

// Factory creates a backend. An error means that the backend's options are wrong.
type Factory func(Environment) (SchedulerBackend, error)
