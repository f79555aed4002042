// Package nodes simulates the kubelets of a cluster with kwok's controllers: nodes become ready, pods run, and deleted
// pods disappear.
package nodes

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/kwok/pkg/client/clientset/versioned"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	kwokclient "sigs.k8s.io/kwok/pkg/utils/client"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
	"sigs.k8s.io/yaml"
)

// podStages are what kubelets do with pods.
//
//go:embed pod-*.yaml
var podStages embed.FS

// Simulate acts as the kubelet of every node until the context ends, and as every provisioner of volumes if it is asked
// to. The API server may restart meanwhile.
func Simulate(ctx context.Context, kubeconfig string, volumes bool) error {
	if err := warm(ctx); err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	controller, err := newController(ctx, kubeconfig, volumes)
	if err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	if err := controller.Start(ctx); err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	<-ctx.Done()
	return nil
}

func newController(ctx context.Context, kubeconfig string, volumes bool) (*controllers.Controller, error) {
	clientset, err := kwokclient.NewClientset("", kubeconfig)
	if err != nil {
		return nil, err
	}
	restConfig, err := clientset.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	dynamicClient, err := clientset.ToDynamicClient()
	if err != nil {
		return nil, err
	}
	mapper, err := clientset.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	restClient, err := rest.RESTClientFor(restConfig)
	if err != nil {
		return nil, err
	}
	// Protobuf is cheaper for pods, which are watched most. It is also cheaper for kube-apiserver.
	binary := rest.CopyConfig(restConfig)
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+
		runtime.ContentTypeJSON
	binary.Wrap(newRetriable)
	// Policies often exempt kubelets by their group. Nodes need no rights of their own here.
	binary.Impersonate = rest.ImpersonationConfig{
		UserName: "rehearse-nodes", Groups: []string{"system:nodes", "system:masters"},
	}
	typed, err := kubernetes.NewForConfig(binary)
	if err != nil {
		return nil, err
	}
	kwok, err := versioned.NewForConfig(restConfig)
	if err != nil {
		return nil, err
	}
	stages, err := stages()
	if err != nil {
		return nil, err
	}
	ips := startAddresses(ctx, typed)
	if volumes {
		startVolumes(ctx, typed, informers.NewSharedInformerFactory(typed, 0))
	}
	return controllers.NewController(controllers.Config{
		Clock:                      clock.RealClock{},
		DynamicClient:              dynamicClient,
		RESTClient:                 restClient,
		RESTMapper:                 mapper,
		ImpersonatingDynamicClient: clientset.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:   clientset.ToImpersonatingTypedClient(),
		TypedClient:                client{typed},
		TypedKwokClient:            kwok,
		ManageAllNodes:             true,
		CIDR:                       podRange,
		NodeIP:                     fallbackNodeIP,
		LocalStages:                stages,
		FuncMap:                    ips.functions(),
		PodPlayStageParallelism:    128, // most wait while a webhook or the API server does not answer
		NodePlayStageParallelism:   8,
		NodeLeaseParallelism:       4,
		PodsOnNodeSyncParallelism:  4,
		ID:                         "rehearse",
	})
}

func stages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	files, err := fs.Glob(podStages, "*.yaml")
	if err != nil {
		return nil, err
	}
	texts := []string{fast.DefaultNodeInit}
	for _, file := range files {
		text, err := podStages.ReadFile(file)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	byResource := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, text := range texts {
		stage, err := readStage(text)
		if err != nil {
			return nil, fmt.Errorf("read a stage: %w", err)
		}
		byResource[stage.Spec.ResourceRef] = append(byResource[stage.Spec.ResourceRef], stage)
	}
	return byResource, nil
}

// warm fills the caches of kwok's expression library. The controllers of nodes and of pods fill them at the same time
// and without a lock, if there are nodes and pods at the start, and Go ends a program that does that.
func warm(ctx context.Context) error {
	byResource, err := stages()
	if err != nil {
		return err
	}
	for _, of := range byResource {
		states, err := lifecycle.NewLifecycle(of)
		if err != nil {
			return fmt.Errorf("compile stages: %w", err)
		}
		for _, object := range []any{&corev1.Node{}, &corev1.Pod{}} {
			if _, err := states.Match(ctx, &lifecycle.Event{Data: object}); err != nil {
				return fmt.Errorf("try stages: %w", err)
			}
		}
	}
	return nil
}

// readStage replaces kwok's own reader, because that one would add all of kustomize to this program.
func readStage(text string) (*internalversion.Stage, error) {
	var stage v1alpha1.Stage
	if err := yaml.UnmarshalStrict([]byte(text), &stage); err != nil {
		return nil, err
	}
	v1alpha1.SetObjectDefaults_Stage(&stage)
	return internalversion.ConvertToInternalStage(&stage)
}
