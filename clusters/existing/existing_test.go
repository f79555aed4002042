package existing

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// server answers as a kube-apiserver would, of the version and the gate that the test sets.
type server struct {
	version atomic.Value
	gate    atomic.Int32
	refuse  atomic.Bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"major":"1","minor":"0","gitVersion":%q}`, s.version.Load())
	case r.URL.Path == "/metrics" && !s.refuse.Load():
		fmt.Fprintf(w, "# TYPE kubernetes_feature_enabled gauge\nkubernetes_feature_enabled{name=\"G\",stage=\"BETA\"} %d\n", s.gate.Load())
	default:
		http.Error(w, "no", http.StatusForbidden)
	}
}

func provider(t *testing.T, s *server, command ...string) *Provider {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: ctx, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: ctx\n", web.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{Kubeconfig: kubeconfig, TransitionCommand: command})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		path    []clusters.State
		command []string
		refuse  bool
		want    string
	}{
		"the minor is right":                   {path: []clusters.State{{Version: "1.35"}}},
		"any version":                          {path: []clusters.State{{}}},
		"the gate is right":                    {path: []clusters.State{{Version: "1.35.4", FeatureGates: map[string]bool{"G": true}}}},
		"another version":                      {path: []clusters.State{{Version: "1.34"}}, want: "wants Kubernetes 1.34, cluster ctx runs 1.35.4"},
		"another patch":                        {path: []clusters.State{{Version: "1.35.3"}}, want: "wants Kubernetes 1.35.3"},
		"another gate":                         {path: []clusters.State{{FeatureGates: map[string]bool{"G": false}}}, want: "G should be false"},
		"gates cannot be read":                 {path: []clusters.State{{FeatureGates: map[string]bool{"G": true}}}, refuse: true, want: "cannot be told"},
		"a transition":                         {path: []clusters.State{{}, {Version: "1.36"}}, want: "--transition-command"},
		"a transition that a command performs": {path: []clusters.State{{}, {Version: "1.36"}}, command: []string{"/bin/true"}},
		"nodes":                                {path: []clusters.State{{Nodes: []clusters.NodeGroup{{}}}}, want: "keeps those it has"},
		"settings that nobody can look into":   {path: []clusters.State{{RuntimeConfig: map[string]string{"api/all": "true"}}}, want: "api/all=true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			s.version.Store("v1.35.4-vendor.1")
			s.gate.Store(1)
			s.refuse.Store(test.refuse)
			p := provider(t, s, test.command...)
			path := test.path
			var err error
			if path[0], err = p.Resolve(t.Context(), path[0]); err != nil {
				t.Fatal(err)
			}
			err = p.Check(t.Context(), path)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTransitionCommand(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	out := filepath.Join(t.TempDir(), "out")
	p := provider(t, s, "/bin/sh", "-c", `echo "$REHEARSE_VERSION $REHEARSE_FEATURE_GATES $KUBECONFIG" > "$0"`, out)
	c, err := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
	if err != nil {
		t.Fatal(err)
	}
	next := clusters.State{Version: "1.35.4", FeatureGates: map[string]bool{"G": false}}
	if err := c.Converge(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	said, _ := os.ReadFile(out)
	if got, want := string(said), "1.35.4 G=false "+c.KubeconfigPath()+"\n"; got != want {
		t.Errorf("the command was told %q, want %q", got, want)
	}
	if got := c.State().String(); got != next.String() {
		t.Errorf("state %s, want %s", got, next)
	}
}

func TestTransitionCommandFails(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	p := provider(t, s, "/bin/sh", "-c", "echo no quota; exit 9")
	c, _ := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
	err := c.Converge(t.Context(), clusters.State{Version: "1.36.3"})
	if err == nil || !strings.Contains(err.Error(), "no quota") || !strings.Contains(err.Error(), "exit status 9") {
		t.Errorf("got %v, want the command's own words", err)
	}
	if got := c.State().Version; got != "1.35.4" {
		t.Errorf("state %s after a transition that failed, want 1.35.4", got)
	}
}
