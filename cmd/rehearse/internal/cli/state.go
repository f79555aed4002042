package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// StateFlags describe a state, or a change of one.
type StateFlags struct {
	Version       string
	Gates         map[string]string
	RuntimeConfig map[string]string
	Nodes         int
	Profiles      string
	Schedulers    []string
	Removed       []string
}

// AddTo adds the flags to a command.
func (f *StateFlags) AddTo(command *cobra.Command) {
	command.Flags().StringVar(&f.Version, "version", "", "Kubernetes version: 1.35 or 1.35.4")
	command.Flags().StringToStringVar(&f.Gates, "feature-gates", nil,
		"feature gates: A=true,B=false; A= returns a gate to its default")
	command.Flags().StringToStringVar(&f.RuntimeConfig, "runtime-config", nil,
		"APIs: scheduling.k8s.io/v1alpha1=true; scheduling.k8s.io/v1alpha1= returns one to its default")
	command.Flags().IntVar(&f.Nodes, "nodes", 0, "number of nodes: simulated ones, or workers of a kind cluster")
	command.Flags().StringVar(&f.Profiles, "scheduler-config", "",
		"KubeSchedulerConfiguration file with the profiles to use")
	command.Flags().StringArrayVar(&f.Schedulers, "scheduler", nil,
		"an additional kube-scheduler: NAME (also its schedulerName), or NAME=FILE with profiles from a "+
			"KubeSchedulerConfiguration")
}

// Change returns the change that the flags describe.
func (f *StateFlags) Change(command *cobra.Command) (clusters.Change, error) {
	change := clusters.Change{Version: f.Version, FeatureGates: map[string]*bool{}, RuntimeConfig: map[string]*string{}}
	for gate, text := range f.Gates {
		switch text {
		case "true", "false":
			value := text == "true"
			change.FeatureGates[gate] = &value
		case "":
			change.FeatureGates[gate] = nil
		default:
			return change, fmt.Errorf("--feature-gates %s=%s: want true, false or nothing", gate, text)
		}
	}
	for key, value := range f.RuntimeConfig {
		change.RuntimeConfig[key] = &value
		if value == "" {
			change.RuntimeConfig[key] = nil
		}
	}
	if command.Flags().Changed("nodes") {
		change.Nodes = []clusters.NodeGroup{{Count: &f.Nodes}}
	}
	var err error
	if f.Profiles != "" {
		if change.SchedulerProfiles, err = readProfiles("--scheduler-config", f.Profiles); err != nil {
			return change, err
		}
	}
	for _, text := range f.Schedulers {
		name, file, hasFile := strings.Cut(text, "=")
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return change, fmt.Errorf("--scheduler %s: the name %q: %s", text, name, strings.Join(problems, "; "))
		}
		scheduler := clusters.NamedSchedulerChange{NamedScheduler: clusters.NamedScheduler{Name: name}}
		if hasFile {
			if scheduler.Profiles, err = readProfiles("--scheduler", file); err != nil {
				return change, err
			}
		}
		change.Schedulers = append(change.Schedulers, scheduler)
	}
	for _, name := range f.Removed {
		change.Schedulers = append(change.Schedulers,
			clusters.NamedSchedulerChange{NamedScheduler: clusters.NamedScheduler{Name: name}, Remove: true})
	}
	return change, nil
}

// readProfiles reads the profiles from a file with a KubeSchedulerConfiguration.
func readProfiles(flag, file string) ([]map[string]any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", flag, err)
	}
	var config struct {
		Profiles []map[string]any `json:"profiles"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", flag, file, err)
	}
	if len(config.Profiles) == 0 {
		return nil, fmt.Errorf("%s %s has no profiles", flag, file)
	}
	return config.Profiles, nil
}

// MissingSchedulers returns an error if the flags remove a scheduler that does not exist.
func (f *StateFlags) MissingSchedulers(state clusters.State) error {
	for _, name := range f.Removed {
		if !slices.ContainsFunc(state.Schedulers, func(s clusters.NamedScheduler) bool { return s.Name == name }) {
			return fmt.Errorf("--remove-scheduler %s: the cluster has no scheduler of that name; it is %s", name, state)
		}
	}
	return nil
}
