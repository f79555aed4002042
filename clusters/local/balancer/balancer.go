// Package balancer stands before several API servers: it passes TCP connections on to those that say that they are
// ready.
package balancer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
)

// Config of a balancer.
type Config struct {
	// Address to listen on, and Servers to pass connections on to: host:port.
	Address string
	Servers []string
	// CAFile is the authority of the servers' certificates, CertFile and KeyFile are to ask them with.
	CAFile, CertFile, KeyFile string
}

const (
	// checkInterval is between two looks at each server. A server that is asked to end goes on to serve for some of them.
	checkInterval = 100 * time.Millisecond
	// checkTimeout is how long a server may take to say that it is ready, dialTimeout how long to take a connection.
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
	b := newBalancer(c.Servers, func(ctx context.Context, address string) error { return ready(ctx, client, address) })
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for _, s := range b.servers {
		go b.watch(ctx, s)
	}
	if err := b.serve(ctx, listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// ready asks a server whether it is ready.
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

// balancer passes connections on to servers that are ready, in turn; where none of them takes one, to any that does.
type balancer struct {
	servers []*server
	next    atomic.Uint32
	ready   func(ctx context.Context, address string) error
}

func newBalancer(addresses []string, ready func(context.Context, string) error) *balancer {
	b := &balancer{ready: ready}
	for _, address := range addresses {
		b.servers = append(b.servers, &server{address: address})
	}
	return b
}

// watch looks at a server again and again.
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

// order is in which servers are tried for the next connection: those that are ready first.
func (b *balancer) order() []*server {
	var ready, others []*server
	start := int(b.next.Add(1) % uint32(len(b.servers)))
	for i := range b.servers {
		s := b.servers[(start+i)%len(b.servers)]
		if s.ready.Load() {
			ready = append(ready, s)
		} else {
			others = append(others, s)
		}
	}
	return append(ready, others...)
}

func (b *balancer) serve(ctx context.Context, listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go b.pass(ctx, connection)
	}
}

// pass connects a client to the first server that takes the connection.
func (b *balancer) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, s := range b.order() {
		upstream, err := dialer.DialContext(ctx, "tcp", s.address)
		if err != nil {
			s.ready.Store(false)
			continue
		}
		join(client, upstream)
		return
	}
}

// join copies both ways until both sides have ended; when one ends, the other hears of it.
func join(a, b net.Conn) {
	defer b.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			if _, err := io.Copy(way[1], way[0]); err != nil {
				_ = way[1].Close()
			}
			if half, ok := way[1].(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
