package schedulerconfig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// patience is the timeout for a program that usually answers within a tenth of a second.
const patience = time.Minute

// question asks a kube-scheduler whether it accepts profiles, with the gates and flags that the state sets for that
// component.
type question struct {
	program   string
	state     clusters.State
	component clusters.Component
	profiles  []map[string]any
	// path of the profiles in the state.
	path string
}

// ask has the program read the profiles. If it accepts them, ask finds plugins that it would silently ignore.
func (q question) ask(ctx context.Context) (verdict, error) {
	written, rejected, err := q.try(ctx, q.profiles)
	if err != nil {
		return verdict{}, err
	}
	if rejected != "" {
		return verdict{q.rejection(rejected)}, nil
	}
	problems, err := q.unknownPlugins(ctx, written)
	return verdict{problems}, err
}

// try starts the program with these profiles so that it exits before it connects to an API server. It returns the
// configuration that the program would use, or the reason why it rejects the profiles.
func (q question) try(ctx context.Context, profiles []map[string]any) (written []byte, rejected string, err error) {
	defer func() {
		if err != nil {
			err = q.unanswered(err)
		}
	}()
	dir, remove, err := scratch.Folder("scheduler")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = remove() }() // the next run tries again
	config, answer := filepath.Join(dir, "scheduler.yaml"), filepath.Join(dir, "answer.yaml")
	data, err := yaml.Marshal(map[string]any{
		"apiVersion":     "kubescheduler.config.k8s.io/v1",
		"kind":           "KubeSchedulerConfiguration",
		"leaderElection": map[string]any{"leaderElect": false},
		"profiles":       profiles,
	})
	if err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(config, data, 0o600); err != nil {
		return nil, "", err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	output, err := exec.CommandContext(limited, q.program, q.arguments(config, answer)...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case limited.Err() != nil:
		return nil, "", context.Cause(limited)
	case errors.As(err, &exit) && exit.Exited():
		return nil, reasonIn(string(output)), nil
	case err != nil:
		return nil, "", fmt.Errorf("%w: %s", err, output)
	}
	written, err = os.ReadFile(answer)
	return written, "", err
}

// arguments returns kube-scheduler's arguments from the state, and those that make it answer and exit.
func (q question) arguments(config, answer string) []string {
	flags := q.state.Flags(q.component)
	if gates := q.state.Gates(q.component); len(gates) > 0 {
		flags["feature-gates"] = clusters.Pairs(gates)
	}
	maps.Copy(flags, map[string]string{
		"config": config, "write-config-to": answer,
		// There is no API server, and nothing to serve.
		"master": "http://127.0.0.1:1", "secure-port": "0", "leader-elect": "false",
	})
	var args []string
	for name, value := range flags {
		args = append(args, "--"+name+"="+value)
	}
	slices.Sort(args)
	return args
}
