package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/merge"
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
	client, err := a.connect()
	if err != nil {
		return err
	}
	return a.runOn(command, client)
}

func (a *application) runOn(command *cobra.Command, client kubernetes.Interface) error {
	ctx := command.Context()
	job, err := a.create(ctx, client)
	if err != nil {
		return err
	}
	if !a.keep {
		defer a.remove(ctx, client, job, command)
	}
	if err := merge.Forget(nil, a.reportDir); err != nil { // a Job that fails has no merged reports
		return cli.Broken(err)
	}
	work, discard, err := scratch.Folder("job")
	if err != nil {
		return cli.Broken(fmt.Errorf("make a folder for the shards' reports: %w", err))
	}
	defer func() { _ = discard() }() // the next run tries again
	g := &gathering{
		client: client, namespace: a.namespace, job: a.name, uid: job.UID, of: int(a.completions),
		out: cli.Guarded(command.OutOrStdout()), dir: work,
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
			return cli.Broken(err)
		}
		folders, _ := g.folders() // the reports so far are worth keeping
		return cli.Broken(errors.Join(err, keepReports(folders, work)))
	}
	folders, missing := g.folders()
	if missing != nil {
		return cli.Broken(errors.Join(err, missing, keepReports(folders, work)))
	}
	if stalled != nil {
		fmt.Fprintf(command.ErrOrStderr(), "%v\n", stalled)
	}
	return a.merge(command, folders, a.reportDir)
}

// keepReports moves the reports of some shards to a folder that stays. It returns where they are.
func keepReports(reports []string, work string) error {
	if len(reports) == 0 {
		return nil
	}
	kept, err := os.MkdirTemp("", "rehearse-job-")
	if err == nil {
		err = os.Rename(work, filepath.Join(kept, "shards"))
	}
	if err != nil {
		return fmt.Errorf("keep the reports of the other shards: %w", err)
	}
	return fmt.Errorf("the reports of the other shards are in %s; rehearse report html shows them", kept)
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
