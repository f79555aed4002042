package existing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
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
	t.Setenv("TMPDIR", t.TempDir()) // not every test deletes its clusters
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: "+
		"ctx, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: ctx\n", web.URL)
	golden.Write(t, kubeconfig, text)
	p, err := New(Options{Kubeconfig: kubeconfig, TransitionCommand: command})
	golden.Must(t, err)
	return p
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		path    []clusters.State
		command []string
		reject  bool
		// version of the cluster; "" for 1.35.4.
		version, want string
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
		"the release of a pre-release": {
			path: []clusters.State{{Version: "1.36.0"}}, version: "v1.36.0-rc.1",
			want: "cluster ctx runs Kubernetes 1.36.0-rc.1, but 1.36.0 is wanted",
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
			s.version.Store(cmp.Or(test.version, "v1.35.4-vendor.1"))
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
			golden.Must(t, err)
			err = c.Converge(t.Context(), clusters.State{Version: "1.36.3"})
			golden.Error(t, err, test.want, "--transition-timeout")
		})
	}
}

// hanging makes requests for the version wait until the client gives up, except for the first n. It calls asked for
// each of those that wait.
func hanging(s *server, n int32, asked func()) http.Handler {
	var requests atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" && requests.Add(1) > n {
			asked()
			<-r.Context().Done()
			return
		}
		s.ServeHTTP(w, r)
	})
}

// A cluster that does not answer delays neither an interrupt nor the timeout of a transition. The error of a timeout is
// the last answer.
func TestVersionRequestEnds(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	p := provider(t, s, "/bin/true")
	ctx, cancel := context.WithCancel(t.Context())
	web := httptest.NewServer(hanging(s, 0, cancel))
	t.Cleanup(web.Close)
	p.rest.Host = web.URL
	if _, err := p.Resolve(ctx, clusters.State{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt: %v", err)
	}
	limited, timeUp := context.WithCancel(t.Context())
	slow := httptest.NewServer(hanging(s, 1, timeUp))
	t.Cleanup(slow.Close)
	p.rest.Host = slow.URL
	p.patience = patience{most: time.Minute, pause: time.Nanosecond}
	err := (&Cluster{provider: p}).settleWithin(t.Context(), limited, clusters.State{Version: "1.36.3"})
	golden.Error(t, err, "1m0s after the command exited:  cluster ctx runs Kubernetes 1.35.4, but 1.36.3 is wanted")
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
	golden.Must(t, err)
	next := clusters.State{Version: "1.35.4", FeatureGates: map[string]bool{"G": false}}
	golden.Must(t, c.Converge(t.Context(), next))
	said, _ := os.ReadFile(out)
	if got, want := string(said), "1.35.4 G=false "+c.KubeconfigPath()+"\n"; got != want {
		t.Errorf("the command got %q, want %q", got, want)
	}
	if got := c.State().String(); got != next.String() {
		t.Errorf("state %s, want %s", got, next)
	}
}

// The command and the steps reach the chosen context, whatever the user's current one is. No other context is in reach.
func TestContext(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	folder := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	kubeconfig := filepath.Join(folder, "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: prod,
clusters: [{name: p, cluster: {server: "http://127.0.0.1:1"}}, {name: s, cluster: {server: %q}}],
contexts: [{name: prod, context: {cluster: p, user: p}},
  {name: staging, context: {cluster: s, user: s, namespace: there}}],
users: [{name: p, user: {token: secret}}, {name: s, user: {tokenFile: mine}}]}`, web.URL)
	for name, content := range map[string]string{"kubeconfig": text, "mine": "token"} {
		golden.Write(t, filepath.Join(folder, name), content)
	}
	out := filepath.Join(folder, "out")
	p, err := New(Options{
		Kubeconfig: kubeconfig, Context: "staging",
		TransitionCommand: []string{"/bin/sh", "-c", `cat "$KUBECONFIG" > "$0"`, out},
	})
	golden.Must(t, err)
	c, err := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
	golden.Must(t, err)
	if info, err := os.Stat(c.KubeconfigPath()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	next := clusters.State{Version: "1.35.4", RuntimeConfig: map[string]string{"api/all": "true"}}
	golden.Must(t, c.Converge(t.Context(), next))
	got, err := clientcmd.LoadFromFile(out)
	golden.Must(t, err)
	if got.CurrentContext != "staging" || got.Clusters["s"].Server != web.URL ||
		got.Contexts["staging"].Namespace != "there" || len(got.Contexts)+len(got.AuthInfos) != 2 ||
		got.AuthInfos["s"].TokenFile != filepath.Join(folder, "mine") {
		t.Errorf("the command got %+v", got)
	}
	golden.Must(t, c.Delete(t.Context()))
	if _, err := os.Stat(filepath.Dir(c.KubeconfigPath())); !os.IsNotExist(err) {
		t.Errorf("the copy stays: %v", err)
	}
	if after, err := os.ReadFile(kubeconfig); err != nil || string(after) != text {
		t.Errorf("the user's kubeconfig changed, %v:\n%s", err, after)
	}
}

// A track gets the cluster only in its first state. What an earlier track changed may be invisible.
func TestLaterTrack(t *testing.T) {
	first := clusters.State{Version: "1.35.4"}
	hidden := clusters.State{Version: "1.35.4", RuntimeConfig: map[string]string{"api/all": "true"}}
	for name, test := range map[string]struct {
		path    []clusters.State
		command string
		now     string
		want    string
	}{
		"nothing changed":     {},
		"and back":            {path: []clusters.State{hidden, first}},
		"an invisible change": {path: []clusters.State{hidden}, want: "a transition has led to 1.35.4 "},
		"a failed change":     {path: []clusters.State{hidden}, command: "exit 1", want: "a transition to 1.35.4 "},
		"somebody else changed": {
			now: "v1.36.3", want: "runs Kubernetes 1.36.3, but 1.35.4 is wanted; take it back to 1.35.4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			s.version.Store("v1.35.4")
			p := provider(t, s, "/bin/sh", "-c", test.command)
			c, err := p.Create(t.Context(), "1", first)
			golden.Must(t, err)
			for _, state := range test.path {
				if err := c.Converge(t.Context(), state); (err != nil) != (test.command != "") {
					t.Fatal(err)
				}
			}
			golden.Must(t, c.Delete(t.Context()))
			if test.now != "" {
				s.version.Store(test.now)
			}
			_, err = p.Create(t.Context(), "2", first)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), "cluster ctx is no longer in the first state")) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// After a command that failed, the cluster may be anywhere, and the command has to lead back.
func TestRevert(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	calls := filepath.Join(t.TempDir(), "calls")
	p := provider(t, s, "/bin/sh", "-c", `echo "$REHEARSE_VERSION" >> "$0"; test "$REHEARSE_VERSION" = 1.35.4`, calls)
	first := clusters.State{Version: "1.35.4"}
	c, err := p.Create(t.Context(), "x", first)
	golden.Must(t, err)
	if err := c.Converge(t.Context(), clusters.State{Version: "1.36.3"}); err == nil {
		t.Fatal("the command failed, and nobody noticed")
	}
	for range 2 { // the second time there is nothing to do
		golden.Must(t, c.Converge(t.Context(), first))
	}
	if got, _ := os.ReadFile(calls); string(got) != "1.36.3\n1.35.4\n" {
		t.Errorf("the command ran for %q", got)
	}
}

// A command that could not be started has changed nothing.
func TestNoSuchTransitionCommand(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	p := provider(t, s, filepath.Join(t.TempDir(), "none"))
	first := clusters.State{Version: "1.35.4"}
	c, err := p.Create(t.Context(), "x", first)
	golden.Must(t, err)
	if err := c.Converge(t.Context(), clusters.State{Version: "1.36.3"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := c.Converge(t.Context(), first); err != nil {
		t.Errorf("back: %v", err)
	}
}

// Nobody waits for a child that the command leaves in the background, with its output.
func TestTransitionCommandLeavesAChild(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	end := filepath.Join(t.TempDir(), "end")
	golden.Must(t, syscall.Mkfifo(end, 0o600))
	p := provider(t, s, "/bin/sh", "-c", `cat "$0" &`, end)
	c, err := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
	golden.Must(t, err)
	err = c.Converge(t.Context(), clusters.State{Version: "1.35.4", FeatureGates: map[string]bool{"G": false}})
	if err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Error(err)
	}
}

// An interrupt ends the command and its children: they may clean up, and those that do not end are killed.
func TestTransitionCommandInterrupted(t *testing.T) {
	for name, test := range map[string]struct {
		child string
		grace time.Duration
		want  string
	}{
		"the child cleans up": {`trap 'echo clean >> "$0"; exit' TERM`, time.Minute, "clean\n"},
		"the child hangs":     {`trap '' TERM`, time.Nanosecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			s.version.Store("v1.35.4")
			dir := t.TempDir()
			ready, out := filepath.Join(dir, "ready"), filepath.Join(dir, "out")
			golden.Must(t, syscall.Mkfifo(ready, 0o600))
			p := provider(t, s, "/bin/sh", "-c", `sh -c "$2; exec 3> '$1'; sh -c 'echo >&3; exec sleep 60' & wait" "$0" & wait`,
				out, ready, test.child)
			c, err := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
			golden.Must(t, err)
			command, err := c.(*Cluster).command(clusters.State{Version: "1.36.3"})
			golden.Must(t, err)
			command.grace = test.grace
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			golden.Must(t, command.start(ctx))
			pipe, err := os.Open(ready) // waits for the child
			golden.Must(t, err)
			defer pipe.Close()
			if _, err := io.ReadFull(pipe, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := command.wait(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if _, err := io.ReadAll(pipe); err != nil { // ends when the child has ended
				t.Error(err)
			}
			if got, _ := os.ReadFile(out); string(got) != test.want {
				t.Errorf("the child wrote %q, want %q", got, test.want)
			}
		})
	}
}

func TestTransitionCommandFails(t *testing.T) {
	s := &server{}
	s.version.Store("v1.35.4")
	p := provider(t, s, "/bin/sh", "-c", "echo no quota; exit 9")
	c, _ := p.Create(t.Context(), "x", clusters.State{Version: "1.35.4"})
	err := c.Converge(t.Context(), clusters.State{Version: "1.36.3"})
	golden.Error(t, err, "no quota", "exit status 9")
	if got := c.State().Version; got != "1.35.4" {
		t.Errorf("state %s after a transition that failed, want 1.35.4", got)
	}
}
