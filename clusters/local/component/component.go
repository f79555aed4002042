// Package component is how a program that uses local clusters runs itself again as a part of one (etcd, balancer,
// nodes, dns), so that each part is a process of its own that can be killed alone.
package component

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rehearse-dev/rehearse/clusters/local/balancer"
	"github.com/rehearse-dev/rehearse/clusters/local/dns"
	"github.com/rehearse-dev/rehearse/clusters/local/etcd"
	"github.com/rehearse-dev/rehearse/clusters/local/nodes"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// Command is the first argument of a program that is to be a part.
const Command = "component"

// host is the part that gives the machine a name and becomes another program.
const host = "host"

// OnHost begins a command line that goes on with a hostname and a program with its arguments: the program sees that
// hostname. Without a program it only tries whether the name can be set.
func OnHost(executable string) []string { return []string{executable, Command, host} }

// Main turns the program into a part of a cluster if its arguments say so, and then does not return. Every program
// that uses local clusters calls it first: rehearse itself, and the TestMain of a Go test.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != Command {
		return
	}
	if os.Args[2] == host && len(os.Args) > 3 {
		if err := processes.BecomeOnHost(os.Args[3], os.Args[4:]); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[2], os.Args[3:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, part string, args []string) error {
	flags := flag.NewFlagSet(part, flag.ContinueOnError)
	var start func(context.Context) error
	switch part {
	case "etcd":
		var c etcd.Config
		flags.StringVar(&c.DataDir, "data-dir", "", "folder of the data")
		flags.StringVar(&c.ClientURL, "client-url", "", "where to serve clients")
		flags.StringVar(&c.PeerURL, "peer-url", "", "where to serve peers")
		flags.StringVar(&c.CertFile, "cert-file", "", "serving certificate")
		flags.StringVar(&c.KeyFile, "key-file", "", "key of the serving certificate")
		flags.StringVar(&c.CAFile, "ca-file", "", "authority of the clients' certificates")
		start = func(ctx context.Context) error { return etcd.Run(ctx, c) }
	case "nodes":
		kubeconfig := flags.String("kubeconfig", "", "how to reach the API server")
		start = func(ctx context.Context) error { return nodes.Simulate(ctx, *kubeconfig) }
	case "balancer":
		var c balancer.Config
		servers := flags.String("servers", "", "API servers to pass connections on to, divided by commas")
		flags.StringVar(&c.Address, "address", "", "where to listen")
		flags.StringVar(&c.CAFile, "ca-file", "", "authority of the API servers' certificates")
		flags.StringVar(&c.CertFile, "cert-file", "", "certificate to ask the API servers with")
		flags.StringVar(&c.KeyFile, "key-file", "", "key of that certificate")
		start = func(ctx context.Context) error {
			c.Servers = strings.Split(*servers, ",")
			return balancer.Run(ctx, c)
		}
	case "dns":
		var c dns.Config
		flags.StringVar(&c.Address, "address", "", "where to answer")
		flags.StringVar(&c.ReadyAddress, "ready-address", "", "where to tell readiness")
		flags.StringVar(&c.Kubeconfig, "kubeconfig", "", "how to reach the API server")
		start = func(ctx context.Context) error { return dns.Run(ctx, c) }
	default:
		return fmt.Errorf("component %q: want etcd, balancer, nodes or dns", part)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	return start(ctx)
}
