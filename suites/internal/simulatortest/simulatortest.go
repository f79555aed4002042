// Package simulatortest helps the Go tests of simulators: it runs a simulator beside a cluster, and compares the
// schemas of its API with the Go types.
package simulatortest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Options are those of a simulator for a cluster. It serves on a free port of 127.0.0.1; its certificate is also for
// other hosts.
func Options(t testing.TB, cluster clusters.Cluster, hosts ...string) operator.Options {
	t.Helper()
	const host = "127.0.0.1"
	dir := t.TempDir()
	authority, err := certificates.NewAuthority(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Serving("tls", append(hosts, host)...); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return operator.Options{
		RESTConfig: cluster.RESTConfig(), Host: host, Port: listener.Addr().(*net.TCPAddr).Port, CertDir: dir,
		Logger: logr.Discard(),
	}
}

// Start runs a simulator until stop is called or the test ends. It returns when the simulator is ready.
func Start(t testing.TB, o operator.Options, run func(context.Context, operator.Options) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	var err error
	go func() {
		defer close(ended)
		err = run(ctx, o)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if <-ended; err != nil {
			t.Errorf("the simulator ended with %v", err)
		}
	})
	t.Cleanup(stop)
	for !ready(t, o) {
		select {
		case <-ended:
			t.Fatalf("the simulator ended before it was ready: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return stop
}

// ready asks a simulator once whether it is ready. Its certificate is not verified.
func ready(t testing.TB, o operator.Options) bool {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Get(fmt.Sprintf("https://%s:%d%s", o.Host, o.Port, operator.PathReady))
	if err != nil {
		return false
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode == http.StatusOK
}
