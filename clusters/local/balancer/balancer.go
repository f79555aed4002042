// Package balancer forwards TCP connections to those API servers that are ready.
package balancer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/rehearse-dev/rehearse/clusters/forwarding"
)

// Config of a balancer.
type Config struct {
	// Address to listen on, and Servers to forward connections to: host:port.
	Address string
	Servers []string
	// Leaving are the servers that are about to stop.
	Leaving Leaving
	// CAFile is the authority of the servers' certificates; CertFile and KeyFile authenticate the readiness checks.
	CAFile, CertFile, KeyFile string
}

const (
	// checkInterval is the time between two checks of each server.
	checkInterval = 200 * time.Millisecond
	// checkTimeout is how long a server may take to answer a check, dialTimeout how long to accept a connection.
	checkTimeout, dialTimeout = 2 * time.Second, time.Second
)

// Run balances until the context ends.
func Run(ctx context.Context, c Config) error {
	secured, err := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile}.ClientConfig()
	if err != nil {
		return fmt.Errorf("read the certificates: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	client := &http.Client{
		Timeout: checkTimeout, Transport: &http.Transport{TLSClientConfig: secured, ForceAttemptHTTP2: true},
	}
	b := newBalancer(c.Servers, c.Leaving, func(ctx context.Context, address string) error {
		return ready(ctx, client, address)
	})
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for _, s := range b.servers {
		go b.watch(ctx, s)
	}
	b.serve(ctx, listener)
	return nil
}

// ready checks whether a server is ready.
func ready(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// server is one API server.
type server struct {
	address string
	ready   atomic.Bool
}

// balancer forwards connections to the ready servers in turn; if none of them accepts, to any server that does.
type balancer struct {
	servers []*server
	leaving Leaving
	next    atomic.Uint32
	ready   func(ctx context.Context, address string) error
}

func newBalancer(addresses []string, leaving Leaving, ready func(context.Context, string) error) *balancer {
	b := &balancer{leaving: leaving, ready: ready}
	for _, address := range addresses {
		b.servers = append(b.servers, &server{address: address})
	}
	return b
}

// watch checks a server periodically.
func (b *balancer) watch(ctx context.Context, s *server) {
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		s.ready.Store(b.ready(ctx, s.address) == nil)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// order returns the servers in the order of attempts for the next connection: ready ones first, leaving ones last.
func (b *balancer) order() []*server {
	var ready, others, leaving []*server
	start := int(b.next.Add(1) % uint32(len(b.servers)))
	for i := range b.servers {
		s := b.servers[(start+i)%len(b.servers)]
		switch {
		case b.leaving.has(s.address):
			leaving = append(leaving, s)
		case s.ready.Load():
			ready = append(ready, s)
		default:
			others = append(others, s)
		}
	}
	return slices.Concat(ready, others, leaving)
}

// serve balances until the listener is closed.
func (b *balancer) serve(ctx context.Context, listener net.Listener) {
	forwarding.Accept(ctx, listener, func(client net.Conn) { go b.pass(ctx, client) })
}

// pass connects a client to the first server that accepts the connection.
func (b *balancer) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, s := range b.order() {
		upstream, err := dialer.DialContext(ctx, "tcp", s.address)
		if err != nil {
			s.ready.Store(false)
			continue
		}
		forwarding.Join(client, upstream)
		return
	}
}
