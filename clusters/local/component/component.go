// Package component runs a part of a local cluster (etcd, balancer, nodes, dns) by running the same program again, so
// that each part is its own process and can be killed separately.
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

// Command is the first argument of a program that runs as a part.
const Command = "component"

// host is the part that sets the hostname and then executes another program.
const host = "host"

// OnHost returns the beginning of a command line. Append a hostname and a program with its arguments: the program sees
// that hostname. Without a program, the command only checks whether the hostname can be set.
func OnHost(executable string) []string { return []string{executable, Command, host} }

// Main runs a part of a cluster if the program's arguments ask for one, and then does not return. Every program that
// uses local clusters calls it first: rehearse itself, and the TestMain of a Go test.
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
		flags.StringVar(&c.DataDir, "data-dir", "", "data folder")
		flags.StringVar(&c.ClientURL, "client-url", "", "URL for clients")
		flags.StringVar(&c.PeerURL, "peer-url", "", "URL for peers")
		flags.StringVar(&c.CertFile, "cert-file", "", "serving certificate")
		flags.StringVar(&c.KeyFile, "key-file", "", "key of the serving certificate")
		flags.StringVar(&c.CAFile, "ca-file", "", "authority of the clients' certificates")
		start = func(ctx context.Context) error { return etcd.Run(ctx, c) }
	case "nodes":
		kubeconfig := flags.String("kubeconfig", "", "how to reach the API server")
		volumes := flags.Bool("volumes", false, "whether claims get volumes")
		start = func(ctx context.Context) error { return nodes.Simulate(ctx, *kubeconfig, *volumes) }
	case "balancer":
		var c balancer.Config
		servers := flags.String("servers", "", "API servers to forward connections to, separated by commas")
		flags.StringVar(&c.Address, "address", "", "address to listen on")
		flags.StringVar((*string)(&c.Leaving), "leaving-dir", "", "folder that names the API servers that are about to stop")
		flags.StringVar(&c.CAFile, "ca-file", "", "authority of the API servers' certificates")
		flags.StringVar(&c.CertFile, "cert-file", "", "certificate for the readiness checks")
		flags.StringVar(&c.KeyFile, "key-file", "", "key of that certificate")
		start = func(ctx context.Context) error {
			c.Servers = strings.Split(*servers, ",")
			return balancer.Run(ctx, c)
		}
	case "dns":
		var c dns.Config
		flags.StringVar(&c.Address, "address", "", "address to answer on")
		flags.StringVar(&c.ReadyAddress, "ready-address", "", "address to report readiness on")
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
