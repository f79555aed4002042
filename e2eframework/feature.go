package e2eframework

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/rehearse-dev/rehearse"
	"github.com/rehearse-dev/rehearse/clusters"
)

// Feature returns a feature that runs the scenarios of files and folders on the provider's cluster. It fails with their
// explanations.
func (p *Provider) Feature(name string, o rehearse.Options, files ...string) features.Feature {
	return features.New(name).Assess("scenarios", p.Scenarios(o, files...)).Feature()
}

// Scenarios returns a step that runs the scenarios of files and folders on the provider's cluster, each as a subtest.
// They must begin in the cluster's current state. Their transitions change the cluster for the steps that follow; what
// they created is removed. Options.Provider is not used.
func (p *Provider) Scenarios(o rehearse.Options, files ...string) features.Func {
	return func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		t.Helper()
		if p.cluster == nil {
			t.Fatal(errNotCreated)
		}
		o.Provider = &lender{p.provider, p.cluster}
		rehearse.Run(t, o, files...)
		return ctx
	}
}

// lender lends a running cluster to one run of scenarios.
type lender struct {
	clusters.Provider
	cluster clusters.Cluster
}

var _ clusters.Lender = (*lender)(nil)

// Borrowed returns the name of the cluster, for messages.
func (l *lender) Borrowed() string { return "cluster " + l.cluster.Name() }

// Reach does nothing: the cluster runs.
func (l *lender) Reach(context.Context) error { return nil }

// CheckMethod asks the provider, which may have methods.
func (l *lender) CheckMethod(from, to clusters.State, method string) error {
	if checker, ok := l.Provider.(clusters.MethodChecker); ok {
		return checker.CheckMethod(from, to, method)
	}
	return fmt.Errorf("the clusters of provider %s know no methods; leave it out", l.Name())
}

// GateDependencies asks the provider, which may know them.
func (l *lender) GateDependencies(ctx context.Context, state clusters.State, gate string) []string {
	if teller, ok := l.Provider.(clusters.GateTeller); ok {
		return teller.GateDependencies(ctx, state, gate)
	}
	return nil
}

// BlameForField asks the provider, which may know it.
func (l *lender) BlameForField(ctx context.Context, state clusters.State, kind string, path []any) string {
	if teller, ok := l.Provider.(clusters.GateTeller); ok {
		return teller.BlameForField(ctx, state, kind, path)
	}
	return ""
}

// Resolve sets the version of the cluster itself if the state has none, or only its minor version.
func (l *lender) Resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	now := l.cluster.State().Version
	if asked, err := clusters.ParseVersion(state.Version); err == nil && !asked.Exact() {
		if exact, err := clusters.ParseVersion(now); err == nil && exact.MinorString() == asked.MinorString() {
			state.Version = now
		}
	}
	if state.Version == "" {
		state.Version = now
	}
	return l.Provider.Resolve(ctx, state)
}

// Check also rejects a path that does not begin in the cluster's state.
func (l *lender) Check(ctx context.Context, path []clusters.State) error {
	if err := l.at(path[0]); err != nil {
		return err
	}
	return l.Provider.Check(ctx, path)
}

// Create returns the cluster that is lent, if it is in the state.
func (l *lender) Create(_ context.Context, _ string, state clusters.State) (clusters.Cluster, error) {
	return l.cluster, l.at(state)
}

// Return does nothing: the test deletes its cluster.
func (l *lender) Return(context.Context, clusters.Cluster) error { return nil }

// at returns an error if the cluster is in another state. Systems do not count: they come with the scenarios.
func (l *lender) at(state clusters.State) error {
	is, wanted := bare(l.cluster.State()), bare(state)
	if is == wanted {
		return nil
	}
	return fmt.Errorf("use cluster %s: it is in the state %s, and the scenario begins in %s; write this "+
		"state into spec.cluster", l.cluster.Name(), is, wanted)
}

// bare returns a state without its systems, as text.
func bare(state clusters.State) string {
	state.Systems, state.ControlPlanes = nil, state.NumberOfControlPlanes()
	text, err := json.Marshal(state)
	if err != nil {
		return fmt.Sprintf("%#v", state)
	}
	return string(text)
}
