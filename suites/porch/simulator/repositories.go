package simulator

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/rehearse-dev/rehearse/suites/porch/packages"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

var repositoriesResource = schema.GroupVersionResource{
	Group: "config.porch.kpt.dev", Version: "v1alpha1",
	Resource: "repositories",
}

// repositoryResync is the time between two attempts to reach a repository.
const repositoryResync = 10 * time.Second

// repositories are the Repository objects of the cluster.
type repositories struct {
	client dynamic.Interface
	logger logr.Logger
	// liberties are differences that the specification allows.
	liberties liberty.Set
}

// find returns the repository that an object describes, without connecting to it.
func (r *repositories) find(ctx context.Context, namespace, name string) (packages.Repository, error) {
	object, err := r.client.Resource(repositoriesResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return packages.Repository{}, err
	}
	return described(object), nil
}

// open returns a repository that has answered.
func (r *repositories) open(ctx context.Context, namespace, name string) (packages.Repository, error) {
	repository, err := r.find(ctx, namespace, name)
	if err != nil {
		return packages.Repository{}, err
	}
	if _, err := repository.References(ctx); err != nil {
		return packages.Repository{}, apierrors.NewInternalError(err)
	}
	return repository, nil
}

func described(object *unstructured.Unstructured) packages.Repository {
	url, _, _ := unstructured.NestedString(object.Object, "spec", "git", "repo")
	branch, _, _ := unstructured.NestedString(object.Object, "spec", "git", "branch")
	if branch == "" {
		branch = "main"
	}
	return packages.Repository{URL: url, Branch: branch}
}

// run writes the condition of every Repository until the context ends.
func (r *repositories) run(ctx context.Context) {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(r.client, repositoryResync)
	informer := factory.ForResource(repositoriesResource).Informer()
	judge := func(object any) {
		repository, ok := object.(*unstructured.Unstructured)
		switch {
		case !ok:
		case r.liberties.Has(liberty.Late):
			// Each has its own delay, so that one does not block the others.
			go func() {
				if r.liberties.Delay(ctx, repository.GetName()) {
					r.judge(ctx, repository)
				}
			}()
		default:
			r.judge(ctx, repository)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: judge, UpdateFunc: func(_, after any) { judge(after) }}
	if _, err := informer.AddEventHandler(handler); err != nil {
		r.logger.Error(err, "repositories are not watched")
		return
	}
	informer.RunWithContext(ctx)
}

func (r *repositories) judge(ctx context.Context, object *unstructured.Unstructured) {
	if ready(object) {
		return
	}
	condition := map[string]any{
		"type": "Ready", "status": "True", "reason": "Ready", "message": "The repository answers.",
		"observedGeneration": object.GetGeneration(), "lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339),
	}
	if _, err := described(object).References(ctx); err != nil {
		condition["status"], condition["reason"], condition["message"] = "False", "Unreachable", err.Error()
	}
	object = object.DeepCopy()
	if err := unstructured.SetNestedSlice(object.Object, []any{condition}, "status", "conditions"); err != nil {
		r.logger.Error(err, "cannot write the condition of a repository", "repository", object.GetName())
		return
	}
	_, err := r.client.Resource(repositoriesResource).Namespace(object.GetNamespace()).UpdateStatus(ctx, object,
		metav1.UpdateOptions{})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		r.logger.Error(fmt.Errorf("write the condition of repository %s: %w", object.GetName(), err), "trying again",
			"after", repositoryResync)
	}
}

// ready reports whether the repository, as currently described, was already reached.
func ready(object *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] == "Ready" {
			return condition["status"] == "True" && condition["observedGeneration"] == object.GetGeneration()
		}
	}
	return false
}
