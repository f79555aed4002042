package existing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

const (
	// shownLines is how many lines of the command's output an error shows.
	shownLines = 200
	// graceTimeout is how long an interrupted transition command has to end.
	graceTimeout = 30 * time.Second
	// graceInterval is the time between two checks whether it has ended.
	graceInterval = 50 * time.Millisecond
)

// transitionCommand is one run of the transition command.
type transitionCommand struct {
	*exec.Cmd

	// said has its output. It is a file, so that waiting ends even if a child keeps the output open.
	said  *os.File
	grace time.Duration
}

// command returns the transition command with KUBECONFIG, REHEARSE_VERSION, REHEARSE_FEATURE_GATES (A=true,B=false) and
// REHEARSE_STATE (JSON). It runs in its own process group, so that its children end with it.
func (c *Cluster) command(state clusters.State) (*transitionCommand, error) {
	run := c.provider.options.TransitionCommand
	if len(run) == 0 {
		return nil, errors.New("there is no --transition-command")
	}
	encoded, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("write the state for the transition command: %w", err)
	}
	said, err := os.Create(filepath.Join(c.dir, "output"))
	if err != nil {
		return nil, fmt.Errorf("make a file for the output of %s: %w", run[0], err)
	}
	command := exec.Command(run[0], run[1:]...) //nolint:noctx // wait ends the whole group with the context
	command.Stdout, command.Stderr = said, said
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Env = append(append(os.Environ(), processes.NotInCluster()...), "KUBECONFIG="+c.KubeconfigPath(),
		"REHEARSE_VERSION="+state.Version, "REHEARSE_FEATURE_GATES="+clusters.Pairs(state.FeatureGates),
		"REHEARSE_STATE="+string(encoded))
	return &transitionCommand{command, said, graceTimeout}, nil
}

// start starts the command.
func (c *transitionCommand) start(ctx context.Context) error {
	err := context.Cause(ctx)
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Args[0], errors.Join(err, c.said.Close()))
	}
	return nil
}

// wait waits for the command. If the context ends before, it ends the command and its children.
func (c *transitionCommand) wait(ctx context.Context) error {
	defer c.said.Close()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
		c.end()
		<-ended //nolint:errcheck // it was ended
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w; it said:\n%s", c.Args[0], err, processes.LastLines(c.said.Name(), shownLines))
}

// end asks the processes of the group to end, and kills those that still run after the grace period.
func (c *transitionCommand) end() {
	group := -c.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // it may have ended meanwhile
	for deadline := time.Now().Add(c.grace); time.Now().Before(deadline); time.Sleep(graceInterval) {
		if !processes.GroupRuns(c.Process.Pid) {
			return
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
}
