package systems

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
		cluster clusters.Cluster
		options Options
		want    bool
	}{
		"own":      {secureHere{}, Options{}, true},
		"lent":     {secureHere{}, Options{Borrowed: true}, true},
		"kept":     {secureHere{}, Options{Borrowed: true, Keep: true}, false},
		"borrowed": {secure{}, Options{Borrowed: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(test.cluster, test.options)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(t.Context(), false); err != nil {
					t.Error(err)
				}
			}()
			config := test.cluster.RESTConfig()
			golden.Must(t, s.proxied(config))
			if got := config.Host != test.cluster.RESTConfig().Host; got != test.want {
				t.Errorf("connects to %s", config.Host)
			}
		})
	}
}
