package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/grove/backends"
	"github.com/rehearse-dev/rehearse/suites/grove/simulator"
	"github.com/rehearse-dev/rehearse/suites/internal/simulatortest"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// third is the backend of a scheduler that the operator does not know: User Story 1 of GREP-375. It needs the package
// backends, and one entry in a map.
type third struct {
	environment backends.Environment
	options     struct {
		Queue string `json:"queue"`
	}

	mu    sync.Mutex
	calls []string
}

const thirdName = "third-scheduler"

func (b *third) called(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, fmt.Sprintf(format, args...))
}

func (b *third) has(call string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.calls, call)
}

func (b *third) Name() string { return thirdName }

func (b *third) Init() error {
	b.called("init")
	return nil
}

// SyncPodGang creates a ConfigMap as the scheduler's queue entry.
func (b *third) SyncPodGang(ctx context.Context, gang *scheduler.PodGang) error {
	b.called("sync %s", gang.Name)
	entry := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: gang.Namespace, Name: "entry-" + gang.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(gang,
				scheduler.GroupVersion.WithKind(scheduler.KindPodGang))},
		},
		Data: map[string]string{"queue": b.options.Queue},
	}
	if err := b.environment.Client.Create(ctx, entry); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func (b *third) OnPodGangDelete(_ context.Context, gang *scheduler.PodGang) error {
	b.called("delete %s", gang.Name)
	return nil
}

func (b *third) PreparePod(pod *corev1.Pod) {
	pod.Spec.SchedulerName = thirdName
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations["third/queue"] = b.options.Queue
}

func (b *third) ValidatePodCliqueSet(_ context.Context, set *api.PodCliqueSet) error {
	if set.Spec.Template.PriorityClassName != "" {
		return errors.New("third-scheduler knows no priorities")
	}
	return nil
}

// A developer can add a scheduler without changing the operator, and the operator then uses it for workloads.
func TestThirdPartyBackend(t *testing.T) {
	backend := &third{}
	factories := simulator.Builtin()
	factories[thirdName] = func(e backends.Environment) (backends.SchedulerBackend, error) {
		backend.environment = e
		return backend, e.Profile.Decode(&backend.options)
	}
	c, options := cluster(t)
	run(t, options, "scheduler: {profiles: [{name: third-scheduler, config: {queue: fast}, default: true}]}", factories)
	if !backend.has("init") {
		t.Fatal("the operator serves, and has not initialized the backend")
	}
	namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "third"}}
	golden.Must(t, c.Create(t.Context(), &namespace))
	poll(t, "a service account", func(ctx context.Context) bool {
		return c.Get(ctx, client.ObjectKey{Namespace: "third", Name: "default"}, &corev1.ServiceAccount{}) == nil
	})

	rejected := workload("rejected")
	rejected.Spec.Template.PriorityClassName = "high"
	if err := c.Create(t.Context(), rejected); err == nil || !strings.Contains(err.Error(),
		"third-scheduler knows no priorities") {
		t.Errorf("a PodCliqueSet that the backend rejects: %v", err)
	}
	disabled := workload("disabled")
	disabled.Spec.Template.Cliques[0].Spec.PodSpec.SchedulerName = "kai-scheduler"
	if err := c.Create(t.Context(), disabled); err == nil || !strings.Contains(err.Error(), "not enabled") {
		t.Errorf("a PodCliqueSet of a backend that is not enabled: %v", err)
	}

	set := workload("web")
	golden.Must(t, c.Create(t.Context(), set))
	poll(t, "pods of the third scheduler without gates", func(ctx context.Context) bool {
		var pods corev1.PodList
		if err := c.List(ctx, &pods, client.InNamespace("third"),
			client.MatchingLabels{api.LabelPodGang: "web-0"}); err != nil || len(pods.Items) != 2 {
			return false
		}
		return !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
			return p.Spec.SchedulerName != thirdName || p.Annotations["third/queue"] != "fast" || len(p.Spec.SchedulingGates) > 0
		})
	})
	var entry corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "third", Name: "entry-web-0"}, &entry); err != nil {
		t.Errorf("what the backend makes for a PodGang is not there although gates are off: %v", err)
	}
	golden.Must(t, c.Delete(t.Context(), set, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	poll(t, "the backend to hear of the PodGang's end",
		func(context.Context) bool { return backend.has("delete web-0") })
	poll(t, "what the backend made to go with it", func(ctx context.Context) bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(&entry), &corev1.ConfigMap{}))
	})
}

func workload(name string) *api.PodCliqueSet {
	clique := api.PodCliqueTemplateSpec{Name: "a"}
	clique.Spec.Replicas = 2
	clique.Spec.PodSpec.Containers = []corev1.Container{{Name: "main", Image: "main"}}
	set := &api.PodCliqueSet{ObjectMeta: metav1.ObjectMeta{Namespace: "third", Name: name}}
	set.Spec.Replicas = 1
	set.Spec.Template.Cliques = []api.PodCliqueTemplateSpec{clique}
	return set
}

// cluster creates a cluster, and returns a client of it and the options of a simulator for it.
func cluster(t *testing.T) (client.Client, simulator.Options) {
	t.Helper()
	made := clustertest.Create(t, clustertest.Local(t), "grove-simulator", clusters.State{Version: "1.36"})
	scheme, err := operator.Scheme(clientgoscheme.AddToScheme, api.AddToScheme, scheduler.AddToScheme)
	golden.Must(t, err)
	config := rest.CopyConfig(made.RESTConfig())
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	golden.Must(t, err)
	return c, simulatortest.Options(t, made)
}

// run runs the simulator until the test ends, and returns when it serves and its webhook is called.
func run(t *testing.T, o simulator.Options, configuration string, factories backends.Factories) {
	t.Helper()
	o.Config = []byte(configuration)
	simulatortest.Start(t, o, func(ctx context.Context, o simulator.Options) error {
		return simulator.RunWith(ctx, o, factories)
	})
	asking, err := client.New(o.RESTConfig, client.Options{})
	golden.Must(t, err)
	poll(t, "the webhook to be asked", func(ctx context.Context) bool {
		probe := simulator.Probes()[0].DeepCopy()
		spec := probe.Object["spec"].(map[string]any)
		spec["template"] = map[string]any{"cliques": []any{}}
		err := asking.Create(ctx, probe, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "at least one PodClique must be defined")
	})
}

// patience is the timeout of each wait; none is expected to take long.
const patience = 60 * time.Second

func poll(t *testing.T, what string, done func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool,
		error,
	) {
		return done(ctx), nil
	})
	if err != nil {
		t.Fatalf("waited for %s: %v", what, err)
	}
}
