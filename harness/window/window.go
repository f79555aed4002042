// Package window judges the middle of an upgrade: the rules that hold while API servers of different versions share one
// etcd (KEP-4020, KEP-4355, and Kubernetes' version skew policy).
package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Server is one of the API servers.
type Server struct {
	// Name in messages, such as "kube-apiserver@1 (1.35.4)".
	Name string
	// Version of Kubernetes.
	Version string
	// REST connects to it as a cluster administrator.
	REST *rest.Config
}

// Options of a judgement.
type Options struct {
	// Checks to run.
	Checks []string
	// Settle is how long the objects that Kubernetes maintains itself are watched.
	Settle time.Duration
	// Leader finds the server that the leading controller manager runs beside.
	Leader func(context.Context) (Server, error)
}

// check is one rule that must hold in a window.
type check struct {
	name string
	run  func(*judge, context.Context)
	// compares reports whether the check needs the comparison of a kind; nil if it needs none, or reports itself what
	// could not be compared.
	compares func(schema.GroupVersionKind) bool
}

// checks are all of them, in the order in which they run.
func checks() []check {
	every := func(schema.GroupVersionKind) bool { return true }
	return []check{
		{"reads", (*judge).reads, nil},
		{"selectors", (*judge).selectors, nil},
		{"namespaces", (*judge).namespaces, nil},
		{"addresses", (*judge).addresses, addressed},
		{"leader", (*judge).leader, nil},
		{"rules", (*judge).rules, func(kind schema.GroupVersionKind) bool { return ruling(kind.GroupKind()) }},
		{"writes", (*judge).writes, every},
		{"bootstrap", (*judge).bootstrap, every},
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

// Verdict is the result of the checks.
type Verdict struct {
	// Problems are the broken rules, one line each.
	Problems []string
	// Unjudged is what could not be determined.
	Unjudged []string
	// Evidence is what the verdict is based on.
	Evidence []string
}

// asked is an API server with its clients and the kinds that it serves.
type asked struct {
	Server
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	inventory.Inventory
}

// judge compares two API servers.
type judge struct {
	Options
	old, new *asked
	// seen has one entry for each kind and version that both serve.
	seen    []*seen
	verdict Verdict
}

// Judge runs the checks on the oldest and the newest of several API servers.
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
	if !slices.Contains(options.Checks, "reads") {
		j.uncompared()
	}
	return j.verdict, context.Cause(ctx)
}

// uncompared reports what could not be compared although a chosen check needs it. The check "reads" reports that, too.
func (j *judge) uncompared() {
	for _, s := range j.seen {
		needed := slices.ContainsFunc(checks(), func(c check) bool {
			return slices.Contains(j.Checks, c.name) && c.compares != nil && c.compares(s.kind)
		})
		if why := cmp.Or(s.problem, s.unjudged); needed && why != "" {
			j.unjudged("objects of %s: %s", s, why)
		}
		if slices.Contains(j.Checks, "writes") {
			j.restless("writes", s)
			for _, uid := range slices.Sorted(maps.Keys(s.different)) {
				j.unjudged("writes: as %s, %s; only objects that both servers show alike are written", s.kind.GroupVersion(),
					s.different[uid])
			}
		}
	}
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

// manager is the field manager and user agent of the writes.
const manager = "rehearse-window"

// discovered reports which kinds only one server serves. That is not a problem itself, but it may cause others.
func (j *judge) discovered() {
	for _, pair := range [][2]*asked{{j.old, j.new}, {j.new, j.old}} {
		one, other := pair[0], pair[1]
		for group, err := range one.Undiscovered {
			j.unjudged("discovery of API group %s through %s failed: %s", group, one.Name, writes.Words(err))
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
