// Package clustertest provides real control planes to Go tests: local clusters, which are deleted when the test ends.
package clustertest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Local returns a provider whose clusters are in the test's own folder. With -short the test is skipped, since it
// takes seconds to minutes. The test's program must call component.Main first, in TestMain.
func Local(t testing.TB) *local.Provider {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: it needs real control planes; make test-all, or go test without -short, runs it")
	}
	p, err := local.Default(releases.Options{}, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	p.Root = filepath.Join(t.TempDir(), "clusters")
	return p
}

// Create makes a cluster, and deletes it when the test ends. The state's version may be a minor ("1.36").
func Create(t testing.TB, p *local.Provider, name string, state clusters.State) *local.Cluster {
	t.Helper()
	state, err := p.Resolve(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := p.Create(t.Context(), name, state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Delete(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(cluster.KubeconfigPath())); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the cluster's folder is still there: %v", err)
		}
	})
	return cluster.(*local.Cluster)
}
