// Command rehearse tests upgrades, rollbacks and rejections on real Kubernetes components.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
)

func main() {
	component.Main()
	kind.Main()
	builtin.Simulators().Main()
	// Libraries log retried requests. These logs are no part of our output.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once, and with it the processes of its clusters.
	context.AfterFunc(ctx, stop)
	root := calledAs(newRootCommand(), os.Args[0])
	code := execute(ctx, root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
