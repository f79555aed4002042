package local

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// An additional kube-scheduler talks to any API server. So it becomes newer after all of them, and older before them.
func TestOrderOfAFurtherScheduler(t *testing.T) {
	const older, newer = "1.35.4", "1.36.3"
	for name, test := range map[string]struct {
		planes          int
		from, to        string
		apiServersFirst bool
		want            []string
	}{
		"one control plane": {
			1, older, newer, false,
			[]string{"kube-apiserver kube-controller-manager kube-scheduler kube-scheduler/batch"},
		},
		"upgrade": {2, older, newer, false, []string{
			"kube-apiserver@0 kube-controller-manager@0 kube-scheduler@0",
			"kube-apiserver@1 kube-controller-manager@1 kube-scheduler@1 kube-scheduler/batch",
		}},
		"rollback": {2, newer, older, false, []string{
			"kube-apiserver@1 kube-controller-manager@1 kube-scheduler@1 kube-scheduler/batch",
			"kube-apiserver@0 kube-controller-manager@0 kube-scheduler@0",
		}},
		"upgrade, API servers first": {2, older, newer, true, []string{
			"kube-apiserver@0", "kube-apiserver@1", "kube-controller-manager@0", "kube-controller-manager@1",
			"kube-scheduler@0", "kube-scheduler@1 kube-scheduler/batch",
		}},
		"rollback, API servers last": {2, newer, older, true, []string{
			"kube-scheduler@1 kube-scheduler/batch", "kube-scheduler@0", "kube-controller-manager@1",
			"kube-controller-manager@0", "kube-apiserver@1", "kube-apiserver@0",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ports := listening{Schedulers: map[clusters.Component]int{"kube-scheduler/batch": 1}}
			if test.planes > 1 {
				ports.Planes = make([]planePorts, test.planes)
			}
			own := &programs{
				layout: layout{Dir: t.TempDir(), Ports: ports}, record: record{Ports: ports, Processes: map[string]started{}},
			}
			for _, server := range own.layout.instances(clusters.APIServer) {
				own.record.Processes[string(server)] = started{Version: test.from}
			}
			state := clusters.State{
				Version: test.to, ControlPlanes: test.planes, Schedulers: []clusters.NamedScheduler{{Name: "batch"}},
			}
			rounds, err := (&roller{programs: own}).rounds(state, programsOf{test.to: releases.Binaries{}}, test.apiServersFirst)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rounds {
				var names []string
				for _, w := range r.changed {
					names = append(names, string(w.component))
				}
				got = append(got, strings.Join(names, " "))
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// A further API server of a new cluster starts when the first one has created its own Service. Other components start
// when their API servers listen.
func TestAPIServersDoNotRace(t *testing.T) {
	asked := 0
	c := dummies(t, 2, func(r *http.Request) bool {
		if r.URL.Path == kubernetesService {
			asked++
		}
		return r.URL.Path != kubernetesService || asked > 2
	})
	var r round
	for _, plane := range []int{0, 1} {
		for _, component := range []clusters.Component{clusters.APIServer, clusters.ControllerManager} {
			r.changed = append(r.changed, want{component: component.On(plane)})
		}
	}
	for i, want := range []int{0, 0, 3, 3} {
		golden.Must(t, c.mayStart(t.Context(), r, i))
		if asked != want {
			t.Errorf("before %s starts, the Service was read %d times, want %d", r.changed[i].component, asked, want)
		}
	}
}

// A component that exits because its API server is down has not died. Only the API server of its own control plane
// counts; for a component on no control plane, all of them do.
func TestLacksAPIServer(t *testing.T) {
	three := layout{Ports: listening{Planes: make([]planePorts, 3)}}
	for name, test := range map[string]struct {
		layout    layout
		running   []string
		component clusters.Component
		want      bool
	}{
		"a single one runs":           {layout{}, []string{"kube-apiserver"}, clusters.Scheduler, false},
		"a single one was killed":     {layout{}, nil, clusters.Scheduler, true},
		"its own was killed":          {three, []string{"kube-apiserver@0", "kube-apiserver@1"}, clusters.Scheduler.On(2), true},
		"another's was killed":        {three, []string{"kube-apiserver@0", "kube-apiserver@1"}, clusters.Scheduler.On(1), false},
		"one of the balancer's is":    {three, []string{"kube-apiserver@0", "kube-apiserver@1"}, nodesProcess, true},
		"all of the balancer's run":   {three, []string{"kube-apiserver@0", "kube-apiserver@1", "kube-apiserver@2"}, nodesProcess, false},
		"further schedulers go there": {three, []string{"kube-apiserver@0"}, "kube-scheduler/batch", true},
	} {
		c := &programs{layout: test.layout, running: map[string]*processes.Process{}}
		for _, process := range test.running {
			c.running[process] = &processes.Process{}
		}
		if got := lacksAPIServer(c, test.component); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
