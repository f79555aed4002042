package upgrade

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fake is a cluster that is an API server in memory.
type fake struct {
	clusters.Cluster
	clusters.ProcessRunner
	server *apitest.Server
	// change happens at each transition.
	change func()
	died   chan error
}

func (*fake) Name() string               { return "fake" }
func (*fake) State() clusters.State      { return clusters.State{} }
func (f *fake) RESTConfig() *rest.Config { return f.server.Config() }
func (f *fake) Died() <-chan error       { return f.died }

func (f *fake) Converge(context.Context, clusters.State) error {
	f.change()
	return nil
}

// hostOf is a host without systems.
func hostOf(t *testing.T, cluster clusters.Cluster) *systems.Host {
	t.Helper()
	host, err := systems.NewHost(t.Context(), cluster, nil, systems.Options{})
	golden.Must(t, err)
	return host
}
