package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// application creates a Job on a cluster, and makes one report of its shards.
type application struct {
	settings
	kubeconfig, context string
	reportDir           string
	keep                bool
	timeout             time.Duration
	merge               func(*cobra.Command, []string, string) error
}

func (a *application) add(set *pflag.FlagSet) {
	set.StringVar(&a.kubeconfig, "kubeconfig", "", "with --apply: kubeconfig of the cluster (default KUBECONFIG or "+
		"~/.kube/config)")
	set.StringVar(&a.context, "context", "", "with --apply: context of the kubeconfig (default: the current one)")
	set.StringVar(&a.reportDir, "report-dir", "rehearse-report", "with --apply: folder for the merged reports")
	set.BoolVar(&a.keep, "keep", false, "with --apply: keep the Job on the cluster for a day after its end")
	set.DurationVar(&a.timeout, "timeout", 15*time.Minute,
		"with --apply: give up if no pod has run for this long; 0: never")
}

func (a *application) run(command *cobra.Command) error {
	ctx := command.Context()
	client, err := a.connect()
	if err != nil {
		return err
	}
	if err := a.create(ctx, client); err != nil {
		return err
	}
	if !a.keep {
		defer a.remove(ctx, client, command)
	}
	work, err := os.MkdirTemp("", "rehearse-job-")
	if err != nil {
		return cli.Broken(fmt.Errorf("make a folder for the shards' reports: %w", err))
	}
	g := &gathering{
		client: client, namespace: a.namespace, job: a.name, of: int(a.completions), out: command.OutOrStdout(), dir: work,
		interval: time.Second, patience: defaultPatience, linger: defaultLinger, timeout: a.timeout,
	}
	err = g.wait(ctx)
	var stalled *stalledError
	if err != nil && !errors.As(err, &stalled) {
		if ctx.Err() != nil {
			err = errors.New("interrupted: the Job and its shards were deleted, and nothing was merged")
			if a.keep {
				err = fmt.Errorf("interrupted: the Job %s continues in namespace %s", a.name, a.namespace)
			}
		}
		return cli.Broken(errors.Join(err, os.RemoveAll(work)))
	}
	folders, missing := g.folders()
	if missing != nil {
		if len(folders) > 0 {
			missing = fmt.Errorf("%w\nthe reports of the other shards are in %s; rehearse report html shows them", missing, work)
		}
		return cli.Broken(errors.Join(err, missing))
	}
	defer os.RemoveAll(work)
	if stalled != nil {
		fmt.Fprintf(command.ErrOrStderr(), "%v\n", stalled)
	}
	return a.merge(command, folders, a.reportDir)
}

func (a *application) connect() (kubernetes.Interface, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: a.context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the cluster for the Job: %w", err)
	}
	if a.namespace == "" {
		if a.namespace, _, err = loader.Namespace(); err != nil {
			return nil, fmt.Errorf("read the kubeconfig's namespace: %w", err)
		}
	}
	return kubernetes.NewForConfig(config)
}

// create creates the Job, and then its ConfigMap, which the Job owns. The pods wait for the ConfigMap.
func (a *application) create(ctx context.Context, client kubernetes.Interface) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	made, err := client.BatchV1().Jobs(a.namespace).Create(ctx, job, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		return a.notCreated(err)
	}
	if a.files == nil {
		return nil
	}
	files := a.configMap()
	owner := metav1.NewControllerRef(made, batchv1.SchemeGroupVersion.WithKind("Job"))
	// OpenShift lets only those who may update the Job's finalizers set this field.
	owner.BlockOwnerDeletion = nil
	files.OwnerReferences = []metav1.OwnerReference{*owner}
	if _, err := client.CoreV1().ConfigMaps(a.namespace).Create(ctx, files, metav1.CreateOptions{}); err != nil {
		return errors.Join(a.notCreated(err), a.delete(ctx, client))
	}
	return nil
}

func (a *application) notCreated(err error) error {
	err = fmt.Errorf("create the Job %s in namespace %s: %w", a.name, a.namespace, err)
	switch {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%w: delete it (kubectl delete job,configmap -n %s %s), or choose another --name", err, a.namespace,
			a.name)
	case apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		return cli.Broken(err)
	default:
		return err
	}
}

// remove deletes the Job, even after an interrupt. It prints an error.
func (a *application) remove(ctx context.Context, client kubernetes.Interface, command *cobra.Command) {
	if err := a.delete(ctx, client); err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "%v\n", err)
	}
}

func (a *application) delete(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := client.BatchV1().Jobs(a.namespace).Delete(ctx, a.name, metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("the Job %s remains in namespace %s, because it cannot be deleted: "+
			"%w", a.name, a.namespace, err)
	}
	return nil
}

// folders returns the report folders of the shards. Its error says why shards have none.
func (g *gathering) folders() ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	var missing []string
	for i := range g.of {
		if kept := g.reports[i]; kept.folder != "" {
			all = append(all, kept.folder)
			continue
		}
		why := strings.Trim(g.trouble[i]+"; "+g.unread[i], "; ")
		if why == "" {
			why = "none of its pods' logs contains it"
		}
		missing = append(missing, fmt.Sprintf("shard %d/%d wrote no report: %s", i+1, g.of, why))
	}
	if len(missing) > 0 {
		return all, errors.New(strings.Join(missing, "\n"))
	}
	return all, nil
}

// folder of one attempt at a shard.
func (g *gathering) folder(index int, pod string) string {
	return filepath.Join(g.dir, fmt.Sprintf("shard-%d", index+1), pod)
}
