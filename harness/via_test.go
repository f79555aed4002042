package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/schemas"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// planes are the API servers of a cluster.
type planes struct {
	clusters.Cluster
	clusters.Rolling
	servers []clusters.Server
}

func (p planes) Servers() []clusters.Server { return p.servers }

// told holds the metrics of components.
type told map[clusters.Component]string

func (m told) Metrics(_ context.Context, c clusters.Component) ([]byte, error) {
	if m[c] == "" {
		return nil, errors.New("it does not run")
	}
	return []byte(m[c]), nil
}

func TestReadAll(t *testing.T) {
	text := func(requests, stored, started int) string {
		return fmt.Sprintf("# TYPE requests counter\nrequests{code=\"200\"} %d\n# TYPE stored gauge\nstored %d\n"+
			"# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n", requests, stored, started)
	}
	const none = "# TYPE other gauge\nother 1\n"
	source := told{"a@0": text(3, 7, 10), "a@1": text(4, 7, 20), "a@2": none}
	for name, test := range map[string]struct {
		of     []clusters.Component
		metric string
		want   string
	}{
		"one":                           {[]clusters.Component{"a@0"}, "requests", "3 1 10"},
		"counters are added up":         {[]clusters.Component{"a@0", "a@1", "a@2"}, "requests", "7 2 30"},
		"also where the first has none": {[]clusters.Component{"a@2", "a@1"}, "requests", "4 1 20"},
		"others are the first one's":    {[]clusters.Component{"a@0", "a@1"}, "stored", "7 1 30"},
		"only a later one has it":       {[]clusters.Component{"a@2", "a@1"}, "stored", "7 1 20"},
		"no such series":                {[]clusters.Component{"a@0", "a@1"}, "nothing", "0 0 30"},
		"one does not run":              {[]clusters.Component{"a@0", "a@3"}, "requests", "it does not run"},
	} {
		got, err := readAll(t.Context(), source, test.of, scenarios.Metric{Name: test.metric})
		text := fmt.Sprint(got.value, " ", got.series, " ", got.started)
		if err != nil {
			text = err.Error()
		}
		if strings.Join(strings.Fields(text), " ") != test.want {
			t.Errorf("%s: got %q, want %q", name, text, test.want)
		}
	}
}

func TestChosen(t *testing.T) {
	of := func(versions ...string) []clusters.Server {
		var all []clusters.Server
		for i, version := range versions {
			name, behind := strings.CutSuffix(version, " behind")
			all = append(all, clusters.Server{Plane: i, Version: name, Behind: behind})
		}
		return all
	}
	up, down := of("1.36.3", "1.35.4", "1.35.4"), of("1.36.3", "1.36.3", "1.35.4")
	gates, alike := of("1.36.3", "1.36.3 behind"), of("1.36.3", "1.36.3")
	for name, test := range map[string]struct {
		servers []clusters.Server
		via     scenarios.Via
		want    string
	}{
		"up, new":        {up, "new", "[0]"},
		"up, old":        {up, "old", "[1]"},
		"up, each":       {up, "each", "[0 1 2]"},
		"up, a number":   {up, "2", "[2]"},
		"down, new":      {down, "new", "[0]"},
		"down, old":      {down, "old", "[2]"},
		"gates, new":     {gates, "new", "[0]"},
		"gates, old":     {gates, "old", "[1]"},
		"alike, new":     {alike, "new", "all running API servers have the same state"},
		"alike, each":    {alike, "each", "[0 1]"},
		"one was killed": {up[1:], "0", "kube-apiserver@0 does not run; running are [kube-apiserver@1 (1.35.4)"},
		"all were":       {nil, "each", "no API server runs"},
	} {
		chosen, err := chosen(planes{servers: test.servers}, test.via)
		got := []int{}
		for _, s := range chosen {
			got = append(got, s.Plane)
		}
		if text := fmt.Sprint(got); err == nil && text != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %s, %v; want %s", name, text, err, test.want)
		}
	}
	if _, err := chosen(struct{ clusters.Cluster }{}, "0"); err == nil {
		t.Error("a cluster that cannot be asked one by one was asked")
	}
}

// After a transition, each API server is read while the others are, and nobody has to wait for that.
func TestViewsAreReadAtTheSameTime(t *testing.T) {
	cluster := planes{servers: []clusters.Server{{Plane: 0, Version: "1.35.4"}, {Plane: 1, Version: "1.35.4"}}}
	v := &views{run: &trackRun{cluster: cluster}, of: map[int]*trackRun{}}
	began, over := make(chan struct{}, len(cluster.servers)), make(chan struct{})
	for plane := range cluster.servers {
		server := apitest.New(t)
		config := server.Config()
		found := discovery.NewDiscoveryClientForConfigOrDie(config)
		known, err := history.New(config)
		golden.Must(t, err)
		t.Cleanup(known.Close)
		maps := known.Stream(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
		golden.Must(t, maps.CatchUp(t.Context(), history.Scope{}))
		server.Misbehave(func(r apitest.Request) *apitest.Fault {
			if r.Verb == "list" {
				began <- struct{}{}
				<-over
			}
			return nil
		})
		v.of[plane] = &trackRun{
			kinds: served.NewKinds(found.RESTClient(), "1.34.4"), schemas: schemas.New(found.RESTClient()), history: known,
		}
	}
	crossed := make(chan struct{})
	go func() {
		v.cross(t.Context())
		close(crossed)
	}()
	<-began
	if free := v.mu.TryLock(); free {
		v.mu.Unlock()
	} else {
		t.Error("the views are locked while an API server is read")
		over <- struct{}{}
	}
	<-began
	close(over)
	<-crossed
}
