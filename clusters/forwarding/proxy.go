package forwarding

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/cenkalti/backoff/v4"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

const (
	// patience is how long a new connection waits for the API server. Go's clients wait as long for a TLS handshake.
	patience = 10 * time.Second
	// interval is the time between two checks while a connection waits; checkTimeout limits one of them.
	interval, checkTimeout = 25 * time.Millisecond, time.Second
)

// Proxy is an address of an API server which does not refuse connections while the API server restarts, if it holds
// them: a new connection then waits until the API server is ready.
//
// client-go's watches double their delay with each connection that is refused, up to a minute, and forget it after two
// minutes. The transitions of a rehearsal follow each other within seconds, so a client that saw each refusal would
// soon be a minute late. In a real upgrade minutes are between the restarts, or other API servers serve.
type Proxy struct {
	listener net.Listener
	server   string
	ready    func(ctx context.Context) error
	held     atomic.Bool
	end      context.CancelFunc
}

// Listen starts a proxy for an API server, on loopback. It does not hold connections yet.
func Listen(config *rest.Config) (*Proxy, error) {
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("read the API server's address %s: %w", config.Host, err)
	}
	config = rest.CopyConfig(config)
	config.Timeout = checkTimeout
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for readiness checks: %w", err)
	}
	return listen(server.Host, func(ctx context.Context) error {
		return client.Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error()
	})
}

func listen(server string, ready func(context.Context) error) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for connections to the API server: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	p := &Proxy{listener: listener, server: server, ready: ready, end: end}
	go Accept(ctx, listener, func(client net.Conn) { go p.pass(ctx, client) })
	return p, nil
}

// URL of the proxy. The API server's certificate must be valid for 127.0.0.1.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Hold makes new connections wait until the API server is ready, or no longer. If it is not ready within ten seconds,
// the proxy closes the connection.
func (p *Proxy) Hold(held bool) { p.held.Store(held) }

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	p.end()
	return p.listener.Close()
}

// Accept passes on each connection until the listener is closed. An error of one connection does not end it.
func Accept(ctx context.Context, listener net.Listener, pass func(net.Conn)) {
	for {
		client, err := listener.Accept()
		switch {
		case err == nil:
			pass(client)
		case errors.Is(err, net.ErrClosed):
			return
		default: // for example too many open files, until a connection ends
			if !pauses.For(ctx, interval) {
				return
			}
		}
	}
}

func (p *Proxy) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	upstream, err := p.connect(ctx)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _, _ = client.Close(), upstream.Close() })()
	Join(client, upstream)
}

// connect connects to the API server: at once, or, while the proxy holds, as soon as it is ready.
func (p *Proxy) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return backoff.RetryWithData(func() (net.Conn, error) {
		if p.held.Load() {
			if err := p.ready(ctx); err != nil {
				return nil, err
			}
		}
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", p.server)
		if err != nil && !p.held.Load() {
			err = backoff.Permanent(err)
		}
		return connection, err
	}, backoff.WithContext(backoff.NewConstantBackOff(interval), ctx))
}
