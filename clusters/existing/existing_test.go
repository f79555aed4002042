package existing

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// server answers like a kube-apiserver with the version and the gate that the test sets.
type server struct {
	version atomic.Value
	gate    atomic.Int32
	reject  atomic.Bool
	// review is the answer to a SelfSubjectAccessReview, code its HTTP status.
	review atomic.Value
	code   int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"major":"1","minor":"0","gitVersion":%q}`, s.version.Load())
	case r.URL.Path == "/metrics" && !s.reject.Load():
		fmt.Fprintf(w, "# TYPE kubernetes_feature_enabled gauge\nkubernetes_feature_enabled{name=\"G\",stage=\"BETA\"} %d\n",
			s.gate.Load())
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.code)
		fmt.Fprint(w, s.review.Load())
	default:
		http.Error(w, "no", http.StatusForbidden)
	}
}

func provider(t *testing.T, s *server, command ...string) *Provider {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: "+
		"ctx, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: ctx\n", web.URL)
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
		reject  bool
		want    string
	}{
		"the minor is right": {path: []clusters.State{{Version: "1.35"}}},
		"any version":        {path: []clusters.State{{}}},
		"the gate is right": {path: []clusters.State{{
			Version:      "1.35.4",
			FeatureGates: map[string]bool{"G": true},
		}}},
		"another version": {
			path: []clusters.State{{Version: "1.34"}},
			want: "cluster ctx runs Kubernetes 1.35.4, but 1.34 is wanted",
		},
		"another patch": {
			path: []clusters.State{{Version: "1.35.3"}},
			want: "but 1.35.3 is wanted",
		},
		"another gate": {
			path: []clusters.State{{FeatureGates: map[string]bool{"G": false}}},
			want: "G should be false",
		},
		"gates cannot be read": {
			path:   []clusters.State{{FeatureGates: map[string]bool{"G": true}}},
			reject: true, want: "read which feature gates",
		},
		"a transition": {path: []clusters.State{{}, {Version: "1.36"}}, want: "--transition-command"},
		"a transition that a command performs": {
			path:    []clusters.State{{}, {Version: "1.36"}},
			command: []string{"/bin/true"},
		},
		"nodes": {
			path: []clusters.State{{Nodes: []clusters.NodeGroup{{}}}},
			want: "keeps its nodes",
		},
		"settings that nobody can look into": {
			path: []clusters.State{{RuntimeConfig: map[string]string{"api/all": "true"}}},
			want: "api/all=true",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			s.version.Store("v1.35.4-vendor.1")
			s.gate.Store(1)
			s.reject.Store(test.reject)
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

func TestReach(t *testing.T) {
	status := func(code int, reason, message string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, code,
			reason, message)
	}
	review := func(allowed bool) string {
		return fmt.Sprintf(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":%t}}`, allowed)
	}
	for name, test := range map[string]struct {
		code        int
		review      string
		want        string
		unreachable bool
	}{
		"an administrator": {code: 201, review: review(true)},
		"a user who may not": {
			code: 201, review: review(false),
			want: "does not allow the kubeconfig's user to create namespaces",
		},
		"nobody": {
			code: 403, review: status(403, "Forbidden", `User "system:anonymous" cannot create`),
			want: `does not accept the credentials of the kubeconfig: User "system:anonymous" cannot create`,
		},
		"wrong credentials": {
			code: 401, review: status(401, "Unauthorized", "Unauthorized"),
			want: "--kubeconfig, --context",
		},
		"no authorization": {code: 404, review: status(404, "NotFound", "no such resource")},
		"a server that is broken": {
			code: 503, review: status(503, "ServiceUnavailable", "etcd is away"),
			want: "etcd is away", unreachable: true,
		},
		"no server":                 {want: "cluster ctx at http://127.0.0.1:", unreachable: true},
		"an answer of another kind": {code: 200, review: "<html>", want: "ask cluster ctx"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{code: test.code}
			s.review.Store(test.review)
			p := provider(t, s)
			if test.code == 0 {
				p.rest.Host = "http://127.0.0.1:1"
			}
			err := p.Reach(t.Context())
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if got := errors.Is(err, clusters.ErrUnreachable); got != test.unreachable {
				t.Errorf("unreachable: %t, want %t: %v", got, test.unreachable, err)
			}
		})
	}
}

// If the command exits before the cluster has the new state, the provider waits as long as the cluster's answer
// changes, up to the timeout.
func TestTransitionCommandEndsEarly(t *testing.T) {
	for name, test := range map[string]struct {
		patience patience
		want     string
	}{
		"the answer stays the same": {
			patience{most: time.Hour, still: time.Millisecond, pause: time.Nanosecond},
			"1ms after the command exited, without a change:  cluster ctx runs Kubernetes 1.35.4, but 1.36.3 is wanted",
		},
		"the time is up": {
			patience{most: time.Nanosecond, pause: time.Nanosecond},
			"1ns after the command exited:  ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			s.version.Store("v1.35.4")
			p := provider(t, s, "/bin/true")
			p.patience = test.patience
			c, err := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Converge(t.Context(), clusters.State{Version: "1.36.3"})
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), "--transition-timeout") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestPatience(t *testing.T) {
	if p := patienceFor(0); p.most != 5*time.Minute || p.still != time.Minute {
		t.Errorf("the default is %+v", p)
	}
	if p := patienceFor(20 * time.Minute); p.most != 20*time.Minute || p.still != 0 {
		t.Errorf("who names a time gets %+v", p)
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
		t.Errorf("the command got %q, want %q", got, want)
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
