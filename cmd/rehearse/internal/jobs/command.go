package jobs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// Program is what this command needs from the others.
type Program struct {
	// Run runs a command.
	Run Run
	// Paths returns the files that a command reads, or an error if its arguments are wrong. The command must support
	// --shard.
	Paths func(args []string) ([]string, error)
	// Referenced returns the files that those of Paths name. It is called only if the pods get the files.
	Referenced func(args []string) ([]string, error)
	// Merge merges report folders into one, and prints what rehearse merge prints.
	Merge func(command *cobra.Command, folders []string, out string) error
}

// Command prints or applies a Job.
func Command(program Program) *cobra.Command {
	var s settings
	var a application
	var inImage, apply bool
	var more []string
	command := &cobra.Command{
		Use:   "job --image IMAGE --completions N [flags] -- run ARGUMENT...",
		Short: "Run the shards of a command as an Indexed Job on a cluster",
		Long: `Job prints a Job whose pods each run a shard (--shard) of the command after "--", and a ConfigMap
with the files of the command. The command is run, conformance, faults --try or explore. The pods
need no permissions and no volume of the cluster. They need a network only to get Kubernetes
versions that are not in the image. Each pod's report is in its log: rehearse merge reads the logs.
With --results-claim, the whole report also goes to a volume.

With --git, the files come from a repository: each pod fetches --ref before it starts, with git from
the image --git-image, and the command runs in the repository's folder.

--apply creates the Job on the cluster of the kubeconfig, shows its output, merges the reports into
one report folder, and deletes the Job. It shows why a pod cannot start, and gives up if no pod has
run for --timeout.

The Job handles each exit code: a failed scenario or wrong input (1, 2) ends the shard; the shard of
an interrupted or evicted pod is retried; a shard that could not be judged (3) is retried once. The
shard on a lost node is retried after its Node object is deleted. A Job ends after a day, and is
deleted a day later (an hour with --apply).

Exit codes of --apply: those of rehearse merge; 3 if a shard wrote no report.`,
		Example: `  rehearse job --image rehearse:1.0-k8s1.36 --completions 5 -- run scenarios > job.yaml
  rehearse job --apply --image rehearse:1.0-k8s1.36 --completions 5 -- run scenarios
  rehearse job --apply --image rehearse:1.0-k8s1.36 --completions 2 -- faults kai --try
  rehearse job --image rehearse:1.0-k8s1.36 --completions 5 --git https://example.com/team/repository.git \
    --ref v1.2.0 --git-image example.com/git:2 -- run scenarios`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if command.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New("rehearse job: write the command of the shards after --, such as: -- run scenarios")
			}
			paths, err := program.Paths(args)
			if err != nil {
				return fmt.Errorf("the command of the shards: %w", err)
			}
			s.command = args
			if paths = slices.Concat(paths, more); !inImage && s.git.url == "" && len(paths) > 0 {
				referenced, err := program.Referenced(args)
				if err != nil {
					return fmt.Errorf("the command of the shards: %w", err)
				}
				if s.files, err = packFiles(slices.Concat(paths, referenced)); err != nil {
					return err
				}
			}
			if inImage && s.git.url != "" {
				return errors.New("--git and --in-image: the files are either in the repository or in the image")
			}
			if err := s.check(); err != nil {
				return err
			}
			if s.remains = remainsPrinted; !apply {
				return s.print(command.OutOrStdout())
			}
			if !a.keep {
				s.remains = remainsApplied
			}
			a.settings, a.merge = s, program.Merge
			return a.run(command)
		},
	}
	set := command.Flags()
	set.StringVar(&s.image, "image", "", "image of rehearse (make image)")
	set.Int32Var(&s.completions, "completions", 0, "number of shards")
	set.Int32Var(&s.parallelism, "parallelism", 0, "number of pods that run at once (default: all)")
	set.StringVar(&s.name, "name", "rehearse", "name of the Job and of its ConfigMap")
	set.StringVarP(&s.namespace, "namespace", "n", "", "namespace (default: the kubeconfig's)")
	set.StringVar(&s.cpu, "cpu", defaultCPU, "processors that a pod requests")
	set.StringVar(&s.cpuLimit, "cpu-limit", "",
		"limit of a pod's processors, if the namespace's quota demands one (default: none)")
	set.StringVar(&s.memory, "memory", defaultMemory, "memory that a pod requests, and its limit")
	set.BoolVar(&inImage, "in-image", false, "the files that the command reads are in the image")
	set.StringVar(&s.claim, "results-claim", "", "PersistentVolumeClaim that also gets each shard's whole report")
	s.git.add(set)
	set.StringArrayVar(&more, "include", nil, "another file or folder that the command reads; may be repeated")
	set.BoolVar(&apply, "apply", false, "create the Job, merge the reports, and delete the Job")
	a.add(set)
	command.AddCommand(shardCommand(program.Run))
	return command
}

// check rejects settings that are impossible for a Job.
func (s *settings) check() error {
	if s.image == "" {
		return errors.New("--image: name the image of rehearse that the pods run")
	}
	if s.completions < 1 || s.parallelism < 0 {
		return errors.New("--completions: want the number of shards, 1 or more")
	}
	if err := s.git.check(); err != nil {
		return err
	}
	if s.parallelism == 0 || s.parallelism > s.completions {
		s.parallelism = s.completions
	}
	return nil
}

// print writes the objects as YAML.
func (s *settings) print(out io.Writer) error {
	objects, err := s.objects()
	if err != nil {
		return err
	}
	for i, object := range objects {
		if i > 0 {
			fmt.Fprintln(out, "---")
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return err
		}
		delete(fields, "status")
		text, err := yaml.Marshal(fields)
		if err != nil {
			return err
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// shardCommand is the command that a pod of the Job runs.
func shardCommand(run Run) *cobra.Command {
	var s shard
	command := &cobra.Command{
		Use: "shard --of N -- COMMAND...", Short: "Run the shard of JOB_COMPLETION_INDEX, in a pod of the Job", Hidden: true,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			s.command, s.index = args, os.Getenv("JOB_COMPLETION_INDEX")
			var err error
			if s.pod, err = os.Hostname(); err != nil {
				return cli.Broken(err)
			}
			return s.run(command.Context(), run, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	command.Flags().IntVar(&s.of, "of", 0, "number of shards")
	command.Flags().StringVar(&s.results, "results", "", "folder for the report, in a folder of the shard")
	command.Flags().StringVar(&s.files, "files", "", "archive of the files that the command reads")
	return command
}
