// Package window judges the window of an upgrade: what must hold while API servers that differ serve what one etcd
// stores (KEP-4020, KEP-4355; Kubernetes' version skew policy).
package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Server is one of the API servers.
type Server struct {
	// Name for a person: kube-apiserver@1 (1.35.4).
	Name string
	// Version of Kubernetes.
	Version string
	// REST reaches it, as a cluster administrator.
	REST *rest.Config
}

// Options of a judgement.
type Options struct {
	// Checks that are made.
	Checks []string
	// Settle is for how long the objects that Kubernetes keeps for itself are watched.
	Settle time.Duration
	// Leader finds the server beside which the controller manager leads.
	Leader func(context.Context) (Server, error)
}

// check is one thing that must hold in a window.
type check struct {
	name string
	run  func(*judge, context.Context)
}

// checks are all of them, in the order in which they are made: the first one reads what the others need.
func checks() []check {
	return []check{
		{"reads", (*judge).reads},
		{"namespaces", (*judge).namespaces},
		{"addresses", (*judge).addresses},
		{"leader", (*judge).leader},
		{"rules", (*judge).rules},
		{"writes", (*judge).writes},
		{"bootstrap", (*judge).bootstrap},
	}
}

// Checks names all of them.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Verdict is what was found.
type Verdict struct {
	// Problems are what does not hold, each in a line.
	Problems []string
	// Unjudged is what could not be found out.
	Unjudged []string
	// Evidence is what the verdict stands on.
	Evidence []string
}

// asked is an API server, and what it showed.
type asked struct {
	Server
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	inventory.Inventory
}

// judge asks two API servers.
type judge struct {
	Options
	old, new *asked
	// seen is what both show, one entry for each kind in each version that both serve.
	seen    []*seen
	verdict Verdict
}

// Judge asks the oldest and the newest of several API servers.
func Judge(ctx context.Context, oldest, newest Server, options Options) (Verdict, error) {
	j := &judge{Options: options}
	var err1, err2 error
	j.old, err1 = ask(ctx, oldest)
	j.new, err2 = ask(ctx, newest)
	if err := errors.Join(err1, err2); err != nil {
		return Verdict{}, err
	}
	j.discovered()
	j.look(ctx)
	for _, c := range checks() {
		if slices.Contains(options.Checks, c.name) {
			c.run(j, ctx)
		}
	}
	return j.verdict, context.Cause(ctx)
}

func ask(ctx context.Context, server Server) (*asked, error) {
	config := writes.Configure(server.REST, manager)
	a := &asked{Server: server}
	var err1, err2, err3 error
	a.client, err1 = dynamic.NewForConfig(config)
	a.discovery, err2 = discovery.NewDiscoveryClientForConfig(config)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", server.Name, err)
	}
	if a.Inventory, err3 = inventory.Take(ctx, a.discovery); err3 != nil {
		return nil, fmt.Errorf("%s: %w", server.Name, err3)
	}
	return a, nil
}

// manager is whose name writes have.
const manager = "rehearse-window"

// discovered says in which kinds the servers differ. That is no problem, but what others come from.
func (j *judge) discovered() {
	for _, pair := range [][2]*asked{{j.old, j.new}, {j.new, j.old}} {
		one, other := pair[0], pair[1]
		for group, err := range one.Undiscovered {
			j.unjudged("%s cannot tell which kinds of %s it serves: %s", one.Name, group, writes.Words(err))
		}
		var only []string
		for group, kind := range one.Kinds {
			for _, version := range kind.Versions {
				if also := other.Kinds[group]; also == nil || !slices.Contains(also.Versions, version) {
					only = append(only, group.WithVersion(version).GroupVersion().String()+" "+group.Kind)
				}
			}
		}
		if len(only) > 0 {
			slices.Sort(only)
			j.evidence("only %s serves %s", one.Name, strings.Join(only, ", "))
		}
	}
}

func (j *judge) problem(format string, args ...any) {
	j.verdict.Problems = append(j.verdict.Problems, fmt.Sprintf(format, args...))
}

func (j *judge) unjudged(format string, args ...any) {
	j.verdict.Unjudged = append(j.verdict.Unjudged, fmt.Sprintf(format, args...))
}

func (j *judge) evidence(format string, args ...any) {
	j.verdict.Evidence = append(j.verdict.Evidence, fmt.Sprintf(format, args...))
}
