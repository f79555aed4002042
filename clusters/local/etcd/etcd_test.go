package etcd_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/clusters/local/etcd"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Any user of the machine can connect to loopback: etcd rejects every client without a certificate of its own
// authority, on the clients' port and on the peers'.
func TestWithoutACertificateThereIsNoAnswer(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{own, other} {
		authority, err := certificates.NewAuthority(dir, time.Now())
		golden.Must(t, err)
		golden.Must(t, authority.Serving("server", "127.0.0.1"))
		golden.Must(t, authority.Client("client", "rehearse"))
	}
	held, err := ports.Reserve("127.0.0.1", 2)
	golden.Must(t, err)
	defer held.Release()
	at := func(n int) string { return "https://127.0.0.1:" + strconv.Itoa(held.Numbers[n]) }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- etcd.Run(ctx, etcd.Config{
			DataDir: filepath.Join(t.TempDir(), "data"), ClientURL: at(0), PeerURL: at(1),
			CertFile: filepath.Join(own, "server.crt"), KeyFile: filepath.Join(own, "server.key"), CAFile: filepath.Join(own,
				"ca.crt"),
		})
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	client := func(certificatesOf string) *http.Client {
		config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the server's identity does not matter here
		if certificatesOf != "" {
			var err error
			info := transport.TLSInfo{
				CertFile: filepath.Join(certificatesOf, "client.crt"),
				KeyFile:  filepath.Join(certificatesOf, "client.key"), TrustedCAFile: filepath.Join(own, "ca.crt"),
			}
			if config, err = info.ClientConfig(); err != nil {
				t.Fatal(err)
			}
		}
		return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	}
	get := func(client *http.Client, url string) (int, error) {
		response, err := client.Get(url)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	for { // until it serves, or the test times out
		if code, err := get(client(own), at(0)+"/health"); err == nil && code == http.StatusOK {
			break
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("etcd ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	for name, from := range map[string]string{"no certificate": "", "one of another authority": other} {
		for _, url := range []string{at(0) + "/health", at(1) + "/members"} {
			if code, err := get(client(from), url); err == nil {
				t.Errorf("with %s %s answers %d", name, url, code)
			}
		}
	}
}
