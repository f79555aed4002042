package local

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The costs of local clusters relative to the possible minimum, measured in turn in one run: an etcd and a
// kube-apiserver with the same flags, until /readyz; and a restart of that kube-apiserver. The fastest of three counts:
// the rest is other load of the machine.
func BenchmarkCreateAndTransition(b *testing.B) {
	p, err := Default(releases.Options{}, b.Logf)
	golden.Must(b, err)
	p.Root = filepath.Join(b.TempDir(), "clusters")
	off, on := clusters.State{
		Version:      "1.34",
		FeatureGates: map[string]bool{"RelaxedServiceNameValidation": false},
	}, clusters.State{Version: "1.35", FeatureGates: map[string]bool{"RelaxedServiceNameValidation": true}}
	for _, state := range []*clusters.State{&off, &on} {
		if *state, err = p.Resolve(b.Context(), *state); err != nil {
			b.Fatal(err)
		}
		golden.Must(b, p.Prepare(b.Context(), *state))
	}
	for b.Loop() {
		best := map[string]time.Duration{}
		note := func(name string, took time.Duration) {
			if old, seen := best[name]; !seen || took < old {
				best[name] = took
			}
		}
		for range 3 {
			benchBare(b, p, off, note)
			benchFull(b, p, off, on, note)
		}
		b.ReportMetric(best["bare start"].Seconds(), "s/bare-start")
		b.ReportMetric(best["bare restart"].Seconds(), "s/bare-restart")
		b.ReportMetric(best["create"].Seconds(), "s/create")
		b.ReportMetric(best["up"].Seconds(), "s/up")
		b.ReportMetric(best["down"].Seconds(), "s/down")
		b.ReportMetric(best["create"].Seconds()/best["bare start"].Seconds(), "create/bare-start")
		b.ReportMetric(best["up"].Seconds()/best["bare restart"].Seconds(), "up/bare-restart")
		b.ReportMetric(best["down"].Seconds()/best["bare restart"].Seconds(), "down/bare-restart")
	}
}

// benchBare starts only etcd and kube-apiserver, then restarts the latter.
func benchBare(b *testing.B, p *Provider, state clusters.State, note func(string, time.Duration)) {
	b.Helper()
	dir, lock, err := p.folders().Claim(b.Context(), "bare")
	golden.Must(b, err)
	r := record{Record: folders.Record{Name: "bare", State: state}}
	var held *ports.Reservation
	if r.Ports, held, err = reservePorts(1); err != nil {
		b.Fatal(err)
	}
	l := layout{Dir: dir, Ports: r.Ports}
	golden.Must(b, writeCredentials(l, p.Now()))
	c, err := newCluster(p, r, dir, lock)
	golden.Must(b, err)
	c.reserved = held
	defer func() {
		golden.Must(b, c.Delete(context.WithoutCancel(b.Context())))
	}()
	bin, err := p.programs(b.Context(), state)
	golden.Must(b, err)
	server, err := bin.start(state, clusters.APIServer, l)
	golden.Must(b, err)
	began := time.Now()
	golden.Must(b, c.startEtcd())
	for _, name := range []string{"bare start", "bare restart"} {
		golden.Must(b, c.replace(b.Context(), string(clusters.APIServer), server))
		golden.Must(b, c.ready(b.Context(), clusters.APIServer))
		note(name, time.Since(began))
		began = time.Now()
	}
}

func benchFull(b *testing.B, p *Provider, off, on clusters.State, note func(string, time.Duration)) {
	b.Helper()
	began := time.Now()
	c, err := p.Create(b.Context(), "full", off)
	golden.Must(b, err)
	note("create", time.Since(began))
	for _, step := range []struct {
		name  string
		state clusters.State
	}{{"up", on}, {"down", off}} {
		began = time.Now()
		golden.Must(b, c.Converge(b.Context(), step.state))
		note(step.name, time.Since(began))
	}
	golden.Must(b, c.Delete(context.WithoutCancel(b.Context())))
	if _, err := os.Stat(filepath.Join(p.Root, "full")); err == nil {
		b.Fatal("the cluster's folder is still there")
	}
}
