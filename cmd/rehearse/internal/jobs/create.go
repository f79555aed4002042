package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

const (
	// creationKey annotates a Job with a random value, by which its creator recognizes it if the answer was lost.
	creationKey = "rehearse.dev/creation"
	// cleaning is the timeout for the removal of a Job, even after an interrupt.
	cleaning = 30 * time.Second
)

// create creates the Job, and then its ConfigMap, which the Job owns. The pods wait for the ConfigMap.
func (a *application) create(ctx context.Context, client kubernetes.Interface) (*batchv1.Job, error) {
	job, err := a.job()
	if err != nil {
		return nil, err
	}
	job.Annotations = map[string]string{creationKey: string(uuid.NewUUID())}
	made, err := client.BatchV1().Jobs(a.namespace).Create(ctx, job, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		lost := a.removeLost(ctx, client, job, err)
		return nil, errors.Join(a.notCreated(err), lost)
	}
	if a.files == nil {
		return made, nil
	}
	files := a.configMap()
	owner := metav1.NewControllerRef(made, batchv1.SchemeGroupVersion.WithKind("Job"))
	// OpenShift lets only those who may update the Job's finalizers set this field.
	owner.BlockOwnerDeletion = nil
	files.OwnerReferences = []metav1.OwnerReference{*owner}
	if _, err := client.CoreV1().ConfigMaps(a.namespace).Create(ctx, files, metav1.CreateOptions{}); err != nil {
		return nil, errors.Join(a.notCreated(err), a.delete(ctx, client, made.UID))
	}
	return made, nil
}

// notCreated is the error for a Job that could not be created. It is a mistake in the input only if the API server
// rejected it.
func (a *application) notCreated(err error) error {
	var answer apierrors.APIStatus
	answered := errors.As(err, &answer) && answer.Status().Code < http.StatusInternalServerError
	err = fmt.Errorf("create the Job %s in namespace %s: %w", a.name, a.namespace, err)
	switch {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%w: delete it (kubectl delete job,configmap -n %s %s), or choose another --name", err, a.namespace,
			a.name)
	case !answered || apierrors.IsTooManyRequests(err):
		return cli.Broken(err)
	default:
		return err
	}
}

// removeLost deletes the Job of a creation that failed, if it was stored although there was no clear answer.
func (a *application) removeLost(ctx context.Context, client kubernetes.Interface, job *batchv1.Job,
	failure error,
) error {
	var answer apierrors.APIStatus
	if errors.As(failure, &answer) && answer.Status().Code < http.StatusInternalServerError {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	again := pauses.Growing(25*time.Millisecond, time.Second)
	for {
		found, err := client.BatchV1().Jobs(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil && found.Annotations[creationKey] != job.Annotations[creationKey]:
			return nil // somebody else's
		case err == nil:
			return a.delete(ctx, client, found.UID)
		case !pauses.Wait(ctx, again):
			return fmt.Errorf("it is unknown whether the Job was created; if so, kubectl delete job -n %s %s deletes it: %w",
				a.namespace, a.name, err)
		}
	}
}

// remove deletes the Job, even after an interrupt. It prints an error.
func (a *application) remove(ctx context.Context, client kubernetes.Interface, job *batchv1.Job,
	command *cobra.Command,
) {
	if err := a.delete(ctx, client, job.UID); err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "%v\n", err)
	}
}

// delete deletes the Job, and no other one that has its name by now.
func (a *application) delete(ctx context.Context, client kubernetes.Interface, uid types.UID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	err := client.BatchV1().Jobs(a.namespace).Delete(ctx, a.name, metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground), Preconditions: metav1.NewUIDPreconditions(string(uid)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("the Job %s remains in namespace %s, because it cannot be deleted: "+
			"%w", a.name, a.namespace, err)
	}
	return nil
}
