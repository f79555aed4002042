package diagnosis

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestInotifyWarning(t *testing.T) {
	limit := filepath.Join(t.TempDir(), "limit")
	golden.Write(t, limit, "128\n")
	several := func(n int) clusters.State {
		return clusters.State{Nodes: []clusters.NodeGroup{{Name: "node", Count: &n}}}
	}
	for name, test := range map[string]struct {
		state clusters.State
		limit string
		want  string
	}{
		"a control plane": {clusters.State{}, limit, ""},
		"seven workers":   {several(7), limit, ""},
		"eight workers": {
			several(8), limit,
			"need about 139 inotify instances, but the limit of this machine is 128 per user",
		},
		"five control planes":               {clusters.State{ControlPlanes: 5}, limit, "need about 135 "},
		"a machine that says nothing of it": {several(100), limit + "-not", ""},
	} {
		if got := InotifyWarning(test.state, test.limit); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// If kubelet gets no inotify instance, its configuration is not the cause; the error says what to do.
func TestNoInotifyInstanceLeft(t *testing.T) {
	const log = "Flag --x has been deprecated\nE1122 14:09:06.558521    2024 kubelet.go:1687] \"Failed to start " +
		"cAdvisor\" err=\"inotify_init: too many open files\"\n"
	if got := DoesNotStart(clusters.Kubelet, log).Error(); !strings.Contains(got,
		"inotify_init: too many open files\" (the nodes of all clusters") || !strings.Contains(got, raiseInotify) {
		t.Error(got)
	}
	if got := DoesNotStart(clusters.Kubelet,
		"panic: no such gate").Error(); got != "kubelet does not start: panic: no such gate" {
		t.Error(got)
	}
}
