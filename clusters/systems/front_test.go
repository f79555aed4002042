package systems

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// programAt returns a place whose program answers with the requested path, and a client that trusts its authority.
func programAt(t *testing.T) (*place, *http.Client) {
	t.Helper()
	held, err := reserve(loopback, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := &place{
		dir: t.TempDir(), host: loopback, certs: "certs", port: held.Numbers[0], served: held, own: &ports.Reservation{},
	}
	t.Cleanup(at.release)
	ca, err := (&places{now: time.Now}).certify(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(at.port)))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })}
	go func() {
		_ = server.ServeTLS(listener, filepath.Join(at.certDir(), "tls.crt"), filepath.Join(at.certDir(), "tls.key"))
	}()
	t.Cleanup(func() { _ = server.Close() })
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return at, &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
}

// The same front answers as usual, not at all, with an expired certificate, and as usual again, on existing
// connections.
func TestFront(t *testing.T) {
	at, client := programAt(t)
	f, err := newFront(loopback)
	if err != nil {
		t.Fatal(err)
	}
	at.front = f
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
		golden.Must(t, f.become(test.calls, at, time.Now()))
		response, err := client.Get(f.url() + "/judge")
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
	if got := f.passed("/judge"); got != 3 {
		t.Errorf("%v calls were passed on, want 3", got)
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
			if err != nil {
				t.Fatal(err)
			}
			at.front = f
			golden.Must(t, f.become(clusters.WebhookCalls{}, at, time.Now()))
			response, err := client.Get(f.url() + "/judge") // its program has read its certificates
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			s := &Set{Options: Options{Progress: t.Logf}, places: places{now: time.Now}}
			sys := &system{definition: clusters.System{Name: "s", WebhookCalls: &test.failed}, place: at}
			moved := at.certDir() + "-moved"
			golden.Must(t, os.Rename(at.certDir(), moved))
			if err := s.answerCalls(t.Context(), sys); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("without certificates: %v", err)
			}
			golden.Must(t, os.Rename(moved, at.certDir()))
			sys.definition.WebhookCalls = &test.next
			golden.Must(t, s.answerCalls(t.Context(), sys))
			response, err = client.Get(f.url() + "/judge")
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
	if err != nil {
		t.Fatal(err)
	}
	at.front = f
	for range 100 {
		golden.Must(t, f.become(clusters.WebhookCalls{}, at, time.Now()))
	}
}

// A delayed call ends when its client cancels it, and gets no answer from the program.
func TestFrontWaits(t *testing.T) {
	at, client := programAt(t)
	f, err := newFront(loopback)
	if err != nil {
		t.Fatal(err)
	}
	at.front = f
	golden.Must(t, f.become(clusters.WebhookCalls{Delay: "1h"}, at, time.Now()))
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url()+"/judge", nil)
	if err != nil {
		t.Fatal(err)
	}
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

// For a program that is not ready, one call of the proxy is enough: a mutating webhook that does not answer prevents the
// calls of validating ones.
func TestCallsOfASystemThatIsNotReady(t *testing.T) {
	h, c := newHealth(t), newFakeCluster(t)
	s := newSet(t, c, Options{})
	system := h.system("a")
	system.Probes = []map[string]any{{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}}}
	converge(t, s, system)
	at := s.system("a").place
	ca, err := at.authority()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		c.PutWebhook(kind, "a", "w", at.url()+"/"+kind, "CREATE", string(ca))
	}
	c.probe = func(int) *metav1.Status {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: pool, MinVersion: tls.VersionTLS12,
		}}}
		if answer, err := client.Get(at.front.url() + "/MutatingWebhookConfiguration"); err == nil {
			_ = answer.Body.Close()
			t.Error("the program answers")
		}
		return apitest.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	}
	h.set(never)
	s.Hold(t.Context())
	system.WebhookCalls = &clusters.WebhookCalls{Delay: "1ms"}
	converge(t, s, system)
	if c.probes == 0 || at.front.calls.Delay != "1ms" {
		t.Errorf("%d probes, calls are %+v", c.probes, at.front.calls)
	}
}

// A system without webhooks rejects webhookCalls, and a change of webhookCalls does not restart its process.
func TestCallsOfASystemWithoutWebhooks(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	converge(t, s, sleeper("a"))
	before := pid(s, "a")
	changed := sleeper("a")
	changed.WebhookCalls = &clusters.WebhookCalls{Away: true}
	err := s.Converge(t.Context(), []clusters.System{changed})
	if err == nil || !strings.Contains(err.Error(), "the API server calls no webhook of this system's process") {
		t.Errorf("got %v", err)
	}
	if pid(s, "a") != before {
		t.Error("its process was restarted")
	}
	if _, err := os.Stat(s.system("a").place.file("certs/expired.crt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has an expired certificate: %v", err)
	}
}
