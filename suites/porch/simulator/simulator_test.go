package simulator_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/clusters/clustertest"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
)

func TestMain(m *testing.M) {
	component.Main()
	os.Exit(m.Run())
}

// bench is a cluster with a simulator that can be stopped and started.
type bench struct {
	cluster clusters.Cluster
	client  dynamic.Interface
	options simulator.Options
}

func newBench(t *testing.T) *bench {
	t.Helper()
	cluster := clustertest.Create(t, clustertest.Local(t), "porch-simulator", clusters.State{Version: "1.36"})
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{cluster: cluster, client: client, options: simulator.Options{
		RESTConfig: cluster.RESTConfig(), Host: "127.0.0.1", Port: freePort(t), CertDir: servingCertificate(t),
		Logger: testr.New(t),
	}}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func servingCertificate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	authority, err := certificates.NewAuthority(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Serving("tls", append(simulator.Hosts(), "127.0.0.1", "localhost")...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start runs a simulator with faults until it is stopped, and returns when it is ready.
func (b *bench) start(t *testing.T, faults ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	options := b.options
	options.Faults = faults
	ended := make(chan error, 1)
	go func() { ended <- simulator.Run(ctx, options) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the simulator ended with %v", err)
		}
	}
	// this test does not verify its certificate
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	for {
		select {
		case err := <-ended:
			cancel()
			t.Fatalf("the simulator ended before it was ready: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		response, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d/readyz", options.Port))
		if err != nil {
			continue
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			return stop
		}
	}
}
