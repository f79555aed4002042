package simulator_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr/testr"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/suites/internal/simulatortest"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// bench is a cluster with a simulator that can be stopped and started.
type bench struct {
	cluster clusters.Cluster
	client  dynamic.Interface
	options simulator.Options
}

func newBench(t *testing.T) *bench {
	t.Helper()
	cluster := clustertest.Create(t, clustertest.Local(t), "porch-simulator", clusters.State{Version: "1.36"})
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	options := simulatortest.Options(t, cluster, append(simulator.Hosts(), "localhost")...)
	options.Logger = testr.New(t)
	return &bench{cluster: cluster, client: client, options: options}
}
