package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The files that kind 0.33 writes, shortened.
const (
	listeners = `
resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: listener_apiserver
  address:
    socket_address:
      address: "0.0.0.0"
      port_value: 6443
`
	clusters = `
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  connect_timeout: 0.25s
  load_assignment:
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            socket_address:
              address: x-control-plane
              port_value: 6443
      - endpoint:
          address:
            socket_address:
              address: x-control-plane2
              port_value: 6443
`
)

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"lds.yaml": listeners, "cds.yaml": clusters} {
		path := filepath.Join(dir, name)
		if hosts, _ := readAddresses(path); hosts != nil {
			t.Errorf("a file that is not there: %v", hosts)
		}
		golden.Write(t, path, "resources: []")
		if hosts, _ := readAddresses(path); hosts != nil {
			t.Errorf("a file without addresses: %v", hosts)
		}
		golden.Write(t, path, text)
	}
	port, servers := awaitConfig(t.Context(), dir)
	if want := []string{"x-control-plane:6443", "x-control-plane2:6443"}; port != "6443" ||
		!reflect.DeepEqual(servers, want) {
		t.Errorf("port %s of %v, want 6443 of %v", port, servers, want)
	}
}

// apiServer returns a server that answers with its name. Its /healthz fails if it is not well.
func apiServer(t *testing.T, name string, well bool) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && !well {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(s.Close)
	return s
}

// through sends n requests through the load balancer, each on its own connection, and returns the answers.
func through(t *testing.T, b *balancer, n int) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- b.serve(context.WithoutCancel(t.Context()), listener) }()
	var answers []string
	for range n {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listener.Addr().String()+"/", nil)
		golden.Must(t, err)
		response, err := b.client.Do(request)
		if err != nil {
			answers = append(answers, "none")
			continue
		}
		body, err := io.ReadAll(response.Body)
		golden.Must(t, err)
		_ = response.Body.Close()
		answers = append(answers, string(body))
	}
	_ = listener.Close()
	if err := <-ended; err == nil {
		t.Error("it serves without a listener")
	}
	return strings.Join(answers, " ")
}

func TestConnectionsGoToServersThatAreWell(t *testing.T) {
	one, two, ill := apiServer(t, "one", true), apiServer(t, "two", true), apiServer(t, "ill", false)
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	b := newBalancer([]string{address(one), address(ill), address(two)})
	if got := through(t, b, 3); got != "ill two one" {
		t.Errorf("before the first look: %s, want each in turn", got)
	}
	b.check(t.Context())
	if got := through(t, b, 6); strings.Contains(got, "ill") || !strings.Contains(got, "one") ||
		!strings.Contains(got, "two") {
		t.Errorf("with one that is not well: %s", got)
	}
	one.Close()
	if got := through(t, b, 6); got != "two two two two two two" {
		t.Errorf("with one that has gone since: %s", got)
	}
	b.check(t.Context())
	two.Close()
	if got := through(t, b, 2); got != "none ill" {
		t.Errorf("with none that is well: %s", got)
	}
}
