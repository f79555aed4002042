package places

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
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
