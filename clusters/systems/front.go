package systems

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// front is a proxy between the API server and a program's webhooks. It forwards calls unchanged, late, or with an
// expired certificate, or it does not listen at all. It runs until its system is removed: even an API server that has
// not learned of a changed address yet can still reach the webhooks.
type front struct {
	host string
	held *ports.Reservation
	// calls is how calls are answered at the moment.
	calls  clusters.WebhookCalls
	server *http.Server
	// listener of the server, which may not know it yet when it is closed.
	listener net.Listener

	mu sync.Mutex
	// seen counts the calls by their path.
	seen map[string]float64
}

func newFront(host string) (*front, error) {
	held, err := reserve(host, 1)
	if err != nil {
		return nil, err
	}
	return &front{host: host, held: held, seen: map[string]float64{}}, nil
}

func (f *front) address() string { return net.JoinHostPort(f.host, strconv.Itoa(f.held.Numbers[0])) }
func (f *front) url() string     { return "https://" + f.address() }

// usual reports whether calls are forwarded unchanged.
func (f *front) usual() bool { return f.calls.Usual() }

// become changes how the front answers calls. It uses the certificates of a place, and closes existing connections.
func (f *front) become(calls clusters.WebhookCalls, at *place, now time.Time) error {
	f.close()
	f.calls = clusters.WebhookCalls{Away: true} // nothing listens, also after an error
	if calls.Away {
		return nil
	}
	handler, err := f.handler(calls, at)
	if err != nil {
		return err
	}
	name := "tls"
	if calls.Certificate == clusters.CertificateExpired {
		name = "expired"
		if err := at.certifyExpired(name, now); err != nil {
			return err
		}
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(at.certDir(), name+".crt"), filepath.Join(at.certDir(), name+".key"))
	if err != nil {
		return fmt.Errorf("read the certificate for its webhooks: %w", err)
	}
	listener, err := net.Listen("tcp", f.address())
	if err != nil {
		return fmt.Errorf("listen for calls of its webhooks: %w", err)
	}
	f.server = &http.Server{
		Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	f.listener, f.calls = listener, calls
	server := f.server
	go func() { _ = server.ServeTLS(listener, "", "") }() // ends when the server is closed
	return nil
}

func (f *front) close() {
	if f.server != nil {
		_ = f.server.Close()
		_ = f.listener.Close()
		f.server, f.listener = nil, nil
	}
}

func (f *front) release() {
	f.close()
	f.held.Release()
}

// handler returns a handler that forwards calls to the program of a place.
func (f *front) handler(calls clusters.WebhookCalls, at *place) (http.Handler, error) {
	wait, err := calls.Wait()
	if err != nil {
		return nil, err
	}
	ca, err := at.authority()
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	to, err := url.Parse(at.url())
	if err != nil {
		return nil, fmt.Errorf("find its program: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		// If the program does not answer, the connection is closed, as without a front.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.note(r.URL.Path)
		if wait > 0 && !pauses.For(r.Context(), wait) {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}), nil
}

func (f *front) note(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[path]++
}

// passed returns how often a path was called through this front.
func (f *front) passed(path string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[path]
}

// certifyExpired creates a serving certificate that expired an hour ago, signed by the place's authority.
func (p *place) certifyExpired(name string, now time.Time) error {
	authority, err := certificates.OpenAuthority(p.certDir(), now)
	if err != nil {
		return err
	}
	return authority.ServingUntil(now.Add(-time.Hour), name, p.host, loopback, "localhost")
}
