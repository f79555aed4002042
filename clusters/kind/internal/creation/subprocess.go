package creation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
)

// Command is the first argument of a program that runs to have kind make a cluster.
const Command = "make-kind-cluster"

// Environment variables of that program, and of the script below.
const (
	engineVariable   = "REHEARSE_ENGINE"
	replacedVariable = "REHEARSE_REPLACED_IMAGE"
	imageVariable    = "REHEARSE_IMAGE"
)

// engineScript is what kind calls instead of the engine. It calls the engine with another image in place of kind's
// load balancer. Kind has no option for that image, and giving its name to another image would mislead other users of
// the engine.
const engineScript = `#!/bin/sh
for word do
  shift
  case "$word" in
  *"$REHEARSE_REPLACED_IMAGE") word="$REHEARSE_IMAGE" ;;
  esac
  set -- "$@" "$word"
done
exec "$REHEARSE_ENGINE" "$@"
`

// Main has kind make a cluster if the program's arguments ask for it, and then does not return. Every program that
// makes kind clusters of several control planes must call it first.
func Main() {
	if len(os.Args) != 6 || os.Args[1] != Command {
		return
	}
	program, name, configFile, kubeconfig := os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	go func() { // end together with the parent process
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	config, err := os.ReadFile(configFile)
	if err == nil {
		err = makeCluster(&engine.Engine{Program: program},
			func(format string, args ...any) { fmt.Printf(format+"\n", args...) }, name, config, kubeconfig)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// makeInSubprocess has kind make the cluster in a separate process, whose engine is the script: kind finds its engine
// on the PATH, which is the same for a whole process.
func (c *Creator) makeInSubprocess(balancer string) error {
	if c.Executable == "" {
		return fmt.Errorf("the load balancer %s: it needs a program that calls kind.Main (kind.Options.Executable)", balancer)
	}
	real, err := exec.LookPath(c.Engine.Program)
	if err != nil {
		return err
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	folder := filepath.Join(c.Record.Dir, "engine")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, c.Engine.Program), []byte(engineScript), 0o700); err != nil {
		return err
	}
	c.say("the load balancer is %s", balancer)
	command := exec.Command(c.Executable, Command, c.Engine.Program, c.Record.Name(),
		filepath.Join(c.Record.Dir, record.ConfigFile),
		c.Record.Kubeconfig()) //nolint:noctx // kind cannot be told to stop; without its containers it ends
	command.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"),
		engineVariable+"="+real, replacedVariable+"="+images.OfficialBalancer, imageVariable+"="+balancer)
	// While the program runs, the cluster's folder stays locked.
	command.ExtraFiles = []*os.File{c.Lock}
	return c.follow(command)
}

// follow reports the program's output as progress. If the program fails, it returns its error output.
func (c *Creator) follow(command *exec.Cmd) error {
	var last strings.Builder
	command.Stderr = &last
	alive, err := command.StdinPipe()
	if err != nil {
		return err
	}
	said, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start kind: %w", err)
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		c.Progress("%s", lines.Text())
	}
	err = command.Wait()
	_ = alive.Close() // it may have ended before
	if text := strings.TrimSpace(last.String()); err != nil && text != "" {
		return errors.New(text)
	}
	if err != nil {
		return fmt.Errorf("kind ended: %w", err)
	}
	return nil
}
