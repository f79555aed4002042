package places

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// programAt returns a place whose program answers with the requested path, and a client that trusts its authority.
func programAt(t *testing.T) (*Place, *http.Client) {
	t.Helper()
	return programThatTells(t, nil)
}

// programThatTells is programAt, and tells of its connections.
func programThatTells(t *testing.T, tell func(net.Conn, http.ConnState)) (*Place, *http.Client) {
	t.Helper()
	held, err := reserve(loopback, 1)
	golden.Must(t, err)
	at := &Place{
		Dir: t.TempDir(), host: loopback, certs: "certs", port: held.Numbers[0], served: held, own: &ports.Reservation{},
	}
	t.Cleanup(at.Release)
	ca, err := (&Places{Now: time.Now}).Certify(at, nil)
	golden.Must(t, err)
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(at.port)))
	golden.Must(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Minute, ConnState: tell, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })}
	go func() {
		_ = server.ServeTLS(listener, filepath.Join(at.certDir(), "tls.crt"), filepath.Join(at.certDir(), "tls.key"))
	}()
	t.Cleanup(func() { _ = server.Close() })
	return at, clientThatTrusts(ca)
}

// clientThatTrusts returns a client that trusts certificate authorities.
func clientThatTrusts(authorities []byte) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
}

// The same front answers as usual, not at all, with an expired certificate, and as usual again, on existing
// connections.
func TestFront(t *testing.T) {
	at, client := programAt(t)
	f, err := newFront(loopback)
	golden.Must(t, err)
	at.Front = f
	var expired x509.CertificateInvalidError
	for _, test := range []struct {
		calls clusters.WebhookCalls
		wrong func(error) bool
	}{
		{clusters.WebhookCalls{}, nil},
		{clusters.WebhookCalls{Away: true}, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		{clusters.WebhookCalls{Delay: "1ms"}, nil},
		{clusters.WebhookCalls{Certificate: clusters.CertificateExpired}, func(err error) bool {
			return errors.As(err, &expired) && expired.Reason == x509.Expired
		}},
		{clusters.WebhookCalls{}, nil},
	} {
		golden.Must(t, f.Become(test.calls, at, time.Now()))
		response, err := client.Get(f.URL() + "/judge")
		if test.wrong != nil {
			if err == nil || !test.wrong(err) {
				t.Errorf("%+v: %v", test.calls, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", test.calls, err)
		}
		said, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || string(said) != "/judge" {
			t.Errorf("%+v: %q, %v", test.calls, said, err)
		}
	}
	if got := f.Passed("/judge/"); got != 3 {
		t.Errorf("%v calls were passed on, want 3", got)
	}
	response, err := client.Get(f.URL() + "/") // as the API server calls a webhook without a path
	golden.Must(t, err)
	response.Body.Close()
	if got := f.Passed(""); got != 1 {
		t.Errorf("%v calls without a path were passed on, want 1", got)
	}
}

// A front that could not change how it answers does not listen. It tries again at the next change, also if that is the
// same one, or back to the one before.
func TestFrontAfterAnError(t *testing.T) {
	away, delayed := clusters.WebhookCalls{Away: true}, clusters.WebhookCalls{Delay: "1ms"}
	for name, test := range map[string]struct {
		failed, next clusters.WebhookCalls
		listens      bool
	}{
		"the same again": {delayed, delayed, true},
		"as usual again": {delayed, clusters.WebhookCalls{}, true},
		"expired":        {clusters.WebhookCalls{Certificate: clusters.CertificateExpired}, delayed, true},
		"away":           {delayed, away, false},
	} {
		t.Run(name, func(t *testing.T) {
			at, client := programAt(t)
			f, err := newFront(loopback)
			golden.Must(t, err)
			at.Front = f
			golden.Must(t, f.Become(clusters.WebhookCalls{}, at, time.Now()))
			response, err := client.Get(f.URL() + "/judge") // its program has read its certificates
			golden.Must(t, err)
			response.Body.Close()
			moved := at.certDir() + "-moved"
			golden.Must(t, os.Rename(at.certDir(), moved))
			if _, err := f.Answer(test.failed, at, time.Now()); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("without certificates: %v", err)
			}
			golden.Must(t, os.Rename(moved, at.certDir()))
			if _, err := f.Answer(test.next, at, time.Now()); err != nil {
				t.Fatal(err)
			}
			response, err = client.Get(f.URL() + "/judge")
			if err == nil {
				response.Body.Close()
			}
			if (err == nil) != test.listens || err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a call: %v", err)
			}
		})
	}
}

// A front changes again before it has begun to serve: its port is free at once.
func TestFrontChangesAtOnce(t *testing.T) {
	at, _ := programAt(t)
	f, err := newFront(loopback)
	golden.Must(t, err)
	at.Front = f
	for range 100 {
		golden.Must(t, f.Become(clusters.WebhookCalls{}, at, time.Now()))
	}
}

// A front that changes, or ends, closes its connections to the program.
func TestFrontClosesItsConnections(t *testing.T) {
	var made, open atomic.Int32
	at, client := programThatTells(t, func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			made.Add(1)
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	})
	f, err := newFront(loopback)
	golden.Must(t, err)
	at.Front = f
	const changes = 3
	for range changes {
		golden.Must(t, f.Become(clusters.WebhookCalls{}, at, time.Now()))
		response, err := client.Get(f.URL() + "/judge")
		golden.Must(t, err)
		_, err = io.Copy(io.Discard, response.Body) // only then is the connection idle
		golden.Must(t, errors.Join(err, response.Body.Close()))
	}
	f.close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	golden.Must(t, waiting.Until(ctx, nil, func(context.Context) error {
		if n := open.Load(); n != 0 {
			return fmt.Errorf("%d connections are open", n)
		}
		return nil
	}))
	if made.Load() != changes {
		t.Errorf("the front has made %d connections, want %d", made.Load(), changes)
	}
}

// A delayed call ends when its client cancels it, and gets no answer from the program.
func TestFrontWaits(t *testing.T) {
	at, client := programAt(t)
	f, err := newFront(loopback)
	golden.Must(t, err)
	at.Front = f
	golden.Must(t, f.Become(clusters.WebhookCalls{Delay: "1h"}, at, time.Now()))
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL()+"/judge", nil)
	golden.Must(t, err)
	called := make(chan error)
	go func() {
		response, err := client.Do(request)
		if err == nil {
			response.Body.Close()
		}
		called <- err
	}()
	arrived := func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.seen["/judge"] == 0 {
			return errors.New("no call yet")
		}
		return nil
	}
	golden.Must(t, waiting.Until(t.Context(), nil, arrived))
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
