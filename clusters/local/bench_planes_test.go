package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The costs of three control planes relative to one, measured in turn in one run: the creation, a rolling transition,
// and the memory of all processes afterwards. The median of five counts. On a single processor core, three cost at
// least three times as much as one.
func BenchmarkControlPlanes(b *testing.B) {
	p, err := Default(releases.Options{}, b.Logf)
	golden.Must(b, err)
	p.Root = filepath.Join(b.TempDir(), "clusters")
	const gate = "RelaxedServiceNameValidation"
	off, err := p.Resolve(b.Context(), clusters.State{Version: "1.34", FeatureGates: map[string]bool{gate: false}})
	golden.Must(b, err)
	golden.Must(b, p.Prepare(b.Context(), off))
	for b.Loop() {
		all := map[string][]float64{}
		for range 5 {
			for _, planes := range []int{1, 3} {
				state := off
				state.ControlPlanes = planes
				benchPlanes(b, p, state, gate, func(what string, value float64) {
					name := fmt.Sprint(what, planes)
					all[name] = append(all[name], value)
				})
			}
		}
		median := func(name string) float64 {
			slices.Sort(all[name])
			return all[name][len(all[name])/2]
		}
		for _, what := range []string{"create", "roll"} {
			b.ReportMetric(median(what+"1"), "s/"+what+"-one")
			b.ReportMetric(median(what+"3"), "s/"+what+"-three")
			b.ReportMetric(median(what+"3")/median(what+"1"), what+"-three/one")
		}
		b.ReportMetric(median("memory1"), "MB/one")
		b.ReportMetric(median("memory3"), "MB/three")
	}
}

func benchPlanes(b *testing.B, p *Provider, state clusters.State, gate string, note func(string, float64)) {
	b.Helper()
	began := time.Now()
	c, err := p.Create(b.Context(), "planes", state)
	golden.Must(b, err)
	defer func() {
		golden.Must(b, c.Delete(context.WithoutCancel(b.Context())))
	}()
	note("create", time.Since(began).Seconds())
	state.FeatureGates = map[string]bool{gate: true}
	began = time.Now()
	golden.Must(b, c.Converge(b.Context(), state))
	note("roll", time.Since(began).Seconds())
	note("memory", memory(b, c.(*Cluster).PIDs()))
}

// memory is the total memory of processes, in megabytes; shared memory counts once.
func memory(b *testing.B, pids map[string]int) float64 {
	b.Helper()
	var kilobytes float64
	for name, pid := range pids {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatalf("read the memory of %s: %v", name, err)
		}
		for line := range strings.Lines(string(data)) {
			if text, found := strings.CutPrefix(line, "Pss:"); found {
				value, err := strconv.ParseFloat(strings.Fields(text)[0], 64)
				golden.Must(b, err)
				kilobytes += value
			}
		}
	}
	return kilobytes / 1024
}
