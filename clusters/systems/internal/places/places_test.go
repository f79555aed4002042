package places

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// secure is a cluster whose API server is on loopback, with TLS.
type secure struct{ clusters.Cluster }

func (secure) Name() string             { return "secure" }
func (secure) RESTConfig() *rest.Config { return &rest.Config{Host: "https://127.0.0.1:6443"} }

// secureHere is one that this process runs.
type secureHere struct {
	secure
	clusters.ProcessRunner
}

// Programs connect through the proxy if this process runs the API server, also in a cluster that a test lends. Programs
// that outlive the process do not.
func TestWhoConnectsThroughTheProxy(t *testing.T) {
	for name, test := range map[string]struct {
		places *Places
		want   bool
	}{
		"own":      {&Places{Cluster: secureHere{}}, true},
		"lent":     {&Places{Cluster: secureHere{}, Borrowed: true}, true},
		"kept":     {&Places{Cluster: secureHere{}, Borrowed: true, Keep: true}, false},
		"borrowed": {&Places{Cluster: secure{}, Borrowed: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := test.places.Cluster.RESTConfig()
			golden.Must(t, test.places.proxied(config))
			if got := config.Host != test.places.Cluster.RESTConfig().Host; got != test.want {
				t.Errorf("connects to %s", config.Host)
			}
			golden.Must(t, test.places.Close())
		})
	}
}

// The next run removes what a run without a folder of its cluster leaves behind, unless it was to be kept.
func TestNextRunLeavesWhatIsKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ps := &Places{Cluster: secure{}, Borrowed: true, Keep: true}
	dir, err := ps.folder()
	golden.Must(t, err)
	lock, err := folders.Lock(dir) // this run does not have it, so it is as free as after the end of this run
	golden.Must(t, err)
	golden.Must(t, lock.Close())
	_, remove, err := scratch.Folder("next")
	golden.Must(t, err)
	defer func() { golden.Must(t, remove()) }()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the kept folder: %v, %v", info, err)
	}
	golden.Must(t, ps.Close())
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there after it was discarded: %v", err)
	}
}
