package places

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
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// Front is a proxy between the API server and a program's webhooks. It forwards calls unchanged, late, or with an
// expired certificate, or it does not listen at all. It runs until its system is removed: even an API server that has
// not learned of a changed address yet can still reach the webhooks.
type Front struct {
	host string
	held *ports.Reservation
	// calls is how calls are answered at the moment.
	calls  clusters.WebhookCalls
	server *http.Server
	// listener of the server, which may not know it yet when it is closed.
	listener net.Listener
	// upstream has the connections to the program.
	upstream *http.Transport

	mu sync.Mutex
	// seen counts the calls by their path.
	seen map[string]float64
}

// PutFront starts a front for the program. The API server does not call it yet.
func (p *Place) PutFront(now time.Time) error {
	f, err := newFront(p.host)
	if err != nil {
		return err
	}
	if err := f.Become(clusters.WebhookCalls{}, p, now); err != nil {
		f.release()
		return err
	}
	p.Front = f
	return nil
}

func newFront(host string) (*Front, error) {
	held, err := reserve(host, 1)
	if err != nil {
		return nil, err
	}
	return &Front{host: host, held: held, seen: map[string]float64{}}, nil
}

func (f *Front) address() string { return net.JoinHostPort(f.host, strconv.Itoa(f.held.Numbers[0])) }

// URL is where the API server calls the webhooks.
func (f *Front) URL() string { return "https://" + f.address() }

// Calls is how calls are answered.
func (f *Front) Calls() clusters.WebhookCalls { return f.calls }

// Answer changes how the front answers calls, unless it answers them so already. It reports whether it tried to.
func (f *Front) Answer(calls clusters.WebhookCalls, at *Place, now time.Time) (bool, error) {
	if f.calls == calls {
		return false, nil
	}
	return true, f.Become(calls, at, now)
}

// Become changes how the front answers calls. It uses the certificates of a place, and closes existing connections.
func (f *Front) Become(calls clusters.WebhookCalls, at *Place, now time.Time) error {
	f.close()
	f.calls = clusters.WebhookCalls{Away: true} // nothing listens, also after an error
	if calls.Away {
		return nil
	}
	handler, err := f.handler(calls, at)
	if err != nil {
		return err
	}
	certificate := func() (tls.Certificate, error) { return at.pair("tls") }
	if calls.Certificate == clusters.CertificateExpired {
		certificate = func() (tls.Certificate, error) { return at.expired(now) }
	}
	pair, err := certificate()
	if err != nil {
		return err
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

func (f *Front) close() {
	if f.server != nil {
		_ = f.server.Close()
		_ = f.listener.Close()
		f.server, f.listener = nil, nil
	}
	if f.upstream != nil {
		f.upstream.CloseIdleConnections() // those in use end with their calls
		f.upstream = nil
	}
}

func (f *Front) release() {
	f.close()
	f.held.Release()
}

// handler returns a handler that forwards calls to the program of a place, through a new upstream.
func (f *Front) handler(calls clusters.WebhookCalls, at *Place) (http.Handler, error) {
	wait, err := calls.Wait()
	if err != nil {
		return nil, err
	}
	ca, err := at.Authority()
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	to, err := url.Parse(at.URL())
	if err != nil {
		return nil, fmt.Errorf("find its program: %w", err)
	}
	f.upstream = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: f.upstream,
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

func (f *Front) note(called string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[clean(called)]++
}

// Passed returns how often a path was called through this front.
func (f *Front) Passed(wanted string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[clean(wanted)]
}

// clean returns the path that the API server calls: / for a webhook without a path, and no slash at the end.
func clean(of string) string { return path.Clean("/" + of) }

// expired creates a serving certificate that expired an hour ago, signed by the place's authority.
func (p *Place) expired(now time.Time) (tls.Certificate, error) {
	const name = "expired"
	authority, err := certificates.OpenAuthority(p.certDir(), now)
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := authority.ServingUntil(now.Add(-time.Hour), name, p.host, loopback, "localhost"); err != nil {
		return tls.Certificate{}, err
	}
	return p.pair(name)
}

// pair reads a certificate and its key.
func (p *Place) pair(name string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(p.certDir(), name+".crt"), filepath.Join(p.certDir(), name+".key"))
	if err != nil {
		return pair, fmt.Errorf("read the certificate for its webhooks: %w", err)
	}
	return pair, nil
}
