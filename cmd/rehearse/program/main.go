package program

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/suites"
)

// Main is the main function of rehearse, with suites of your own beside the built-in ones. It does not return.
func Main(own ...suites.Definition) {
	all, err := builtin.All().With(own...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(cli.ExitInput)
	}
	component.Main()
	kind.Main()
	all.Simulators().Main()
	// Libraries log retried requests. These logs are no part of our output.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	// A second Ctrl-C ends the program at once, and with it the processes of its clusters.
	context.AfterFunc(ctx, stop)
	code := Execute(ctx, New(os.Args[0], all), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// interrupts are the signals that end a command, which then removes what it made. A terminal that closes sends SIGHUP;
// nohup ignores it.
func interrupts() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
