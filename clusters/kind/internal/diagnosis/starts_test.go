package diagnosis

import (
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const rejectedGate = `2025-11-21T02:18:40.1Z stderr F I1121 02:18:40.894070       1 options.go:1] starting
2025-11-21T02:18:40.2Z stderr F E1121 02:18:40.894070       1 run.go:72] "command failed" err="unrecognized feature gate: Typo"
`

const refusedConnection = `2025-11-21T02:18:40.2Z stderr F E1121 02:18:40.894070       1 run.go:72] "command failed" err="dial tcp 172.18.0.2:6443: connect: connection refused"
`

// look returns the starts of one pod, parsed from the output that startsScript would print.
func look(folder string, last string, said string) Starts {
	out := "pod " + folder + " " + last + "\n"
	for line := range strings.Lines(said) {
		out += "said " + line
	}
	return parse(out)
}

func TestFailure(t *testing.T) {
	for _, c := range []struct {
		name        string
		now, before Starts
		forgiven    int
		excused     int
		want        string
	}{
		{"the first start still runs", look("new", "0", ""), nil, 0, 0, ""},
		{
			"a rejected gate", look("new", "1", rejectedGate), nil, 0, 0,
			`kube-apiserver does not start: E1121 02:18:40.894070       1 run.go:72] "command failed" err="unrecognized feature gate: Typo"`,
		},
		{"a rejected gate, forgiven once", look("new", "1", rejectedGate), nil, 1, 0, ""},
		{"an API server that is away", look("new", "2", refusedConnection), nil, 0, 0, ""},
		{"away for ever", look("new", "3", refusedConnection), nil, 0, 0, "connection refused"},
		{"away while what it needs was", look("new", "3", refusedConnection), nil, 0, 1, ""},
		{"away for ever since then", look("new", "4", refusedConnection), nil, 0, 1, "connection refused"},
		{"a rejected gate is never excused", look("new", "1", rejectedGate), nil, 0, 5, "unrecognized feature gate"},
		{"the same manifest as once before, and it runs", look("same", "3", rejectedGate), look("same", "2", ""), 0, 0, ""},
		{
			"the same manifest, and it ended", look("same", "4", rejectedGate), look("same", "2", ""), 0, 0,
			"unrecognized feature gate",
		},
		{"logged nothing", look("new", "1", ""), nil, 0, 0, ""},
		{"logged nothing ever", look("new", "3", ""), nil, 0, 0, "kube-apiserver does not start, and logged nothing"},
		{"no pod yet", nil, nil, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.now.Failure(clusters.APIServer, c.before, c.forgiven, c.excused)
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			golden.Error(t, err, c.want)
		})
	}
}

// An error that kubelet survives is no failure; a panic is.
func TestHasFatal(t *testing.T) {
	lived := `E1122 00:32:11.989007    1609 log.go:32] "ContainerStatus from runtime service failed" err="NotFound"` + "\n"
	if hasFatal(lived) || !hasFatal(lived+"panic: unrecognized feature gate: Typo\n") || !hasFatal(rejectedGate) {
		t.Errorf("%t, %t, %t", hasFatal(lived), hasFatal(lived+"panic: x\n"), hasFatal(rejectedGate))
	}
}

// The script finds the last start and the log of the one before, whichever logs kubelet has left.
func TestStartsScript(t *testing.T) {
	for _, c := range []struct {
		name string
		logs map[string]string
		last int
		said string
	}{
		{"the first start runs", map[string]string{"0.log": "a\n"}, 0, ""},
		{"the second runs", map[string]string{"0.log": "a\n", "1.log": "b\n"}, 1, "a\n"},
		{"the second has ended, and the log of the first is gone", map[string]string{"1.log": "b\n"}, 1, "b\n"},
		{"ten and more", map[string]string{"9.log": "i\n", "10.log": "j\n"}, 10, "i\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			folder := filepath.Join(root, "kube-system_kube-apiserver-node_1234")
			for name, text := range c.logs {
				golden.Must(t, settings.WriteFile(filepath.Join(folder, "kube-apiserver", name), text))
			}
			out, err := exec.CommandContext(t.Context(), "sh", "-euc", strings.ReplaceAll(startsScript, "/var/log/pods", root),
				"sh", "kube-apiserver").Output()
			golden.Must(t, err)
			got, want := parse(string(out)), Starts{{folder: folder, last: c.last, said: c.said}}
			if got = got.Of(clusters.APIServer); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if others := got.Of(clusters.Scheduler); len(others) > 0 {
				t.Errorf("of the scheduler: %+v", others)
			}
		})
	}
}
