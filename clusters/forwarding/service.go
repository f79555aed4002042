package forwarding

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// ProbePeriod is the time between two readiness checks of a replica.
const ProbePeriod = 250 * time.Millisecond

// probeTimeout is the timeout of one readiness check.
const probeTimeout = 5 * time.Second

// MostFailures is how many readiness checks must fail in a row until a program that was ready no longer is. It is the
// default of a kubelet. Single checks fail on a busy machine.
const MostFailures = 3

// Service is an address in front of the replicas of a program, as a Service of Kubernetes is: each connection goes to a
// replica that is ready. It does not look into the connections, which TLS encrypts between their two ends.
type Service struct {
	address string

	mu sync.Mutex
	// listener is nil while nothing listens.
	listener net.Listener
	replicas map[string]*replica
	// end closes the connections that exist.
	end context.CancelFunc
	// open are the connections that are being served.
	open sync.WaitGroup
}

type replica struct {
	address string
	ready   bool
	// failures are the readiness checks that failed since the last one that succeeded.
	failures int
	stop     context.CancelFunc
}

// NewService returns a service at an address that does not listen yet.
func NewService(address string) *Service {
	return &Service{address: address, replicas: map[string]*replica{}}
}

// Address is the host:port of the service.
func (s *Service) Address() string { return s.address }

// Listen makes the service listen, and delay each answer. It closes the connections that exist.
func (s *Service) Listen(delay time.Duration) error {
	return s.serve(func(ctx context.Context, client net.Conn) { s.pass(ctx, client, delay) })
}

// Present makes the service show a certificate that clients reject, and forward nothing. It closes the connections that
// exist.
func (s *Service) Present(certificate tls.Certificate) error {
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return s.serve(func(ctx context.Context, client net.Conn) {
		defer client.Close()
		_ = tls.Server(client, config).HandshakeContext(ctx) // the error is for the client
	})
}

// serve makes the service listen, and handle each connection. It closes the connections that exist.
func (s *Service) serve(handle func(ctx context.Context, client net.Conn)) error {
	s.Refuse()
	s.mu.Lock()
	defer s.mu.Unlock()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen for connections to a service: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	s.listener, s.end = listener, end
	s.open.Go(func() {
		Accept(ctx, listener, func(client net.Conn) { s.open.Go(func() { handle(ctx, client) }) })
	})
	return nil
}

// Refuse makes the service refuse connections, and closes those that exist. It returns when they are closed.
func (s *Service) Refuse() {
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close() // only its own goroutine would see an error
		s.end()
		s.listener = nil
	}
	s.mu.Unlock()
	s.open.Wait()
}

// Add adds a replica that is ready or not yet, or replaces it. The service repeats its readiness check until it is
// removed.
func (s *Service) Add(name, address string, ready bool, look func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	r := &replica{address: address, ready: ready, stop: stop}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.replicas[name]; old != nil {
		old.stop()
	}
	s.replicas[name] = r
	go s.probe(ctx, r, look)
}

// Remove removes a replica, and returns the number of those that are left.
func (s *Service) Remove(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.replicas[name]; r != nil {
		r.stop()
		delete(s.replicas, name)
	}
	return len(s.replicas)
}

// Close removes all replicas, and ends the service.
func (s *Service) Close() {
	s.mu.Lock()
	names := slices.Collect(maps.Keys(s.replicas))
	s.mu.Unlock()
	for _, name := range names {
		s.Remove(name)
	}
	s.Refuse()
}

// probe repeats the readiness check of a replica.
func (s *Service) probe(ctx context.Context, r *replica, look func(context.Context) error) {
	ticker := time.NewTicker(ProbePeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		attempt, cancel := context.WithTimeout(ctx, probeTimeout)
		err := look(attempt)
		cancel()
		s.note(r, err)
	}
}

// note notes the result of a readiness check. A replica that does not listen is not ready at once; a kubelet, too, sees
// the end of a program at once.
func (s *Service) note(r *replica, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		r.ready, r.failures = true, 0
		return
	}
	r.failures++
	if r.failures >= MostFailures || refused(err) {
		r.ready = false
	}
}

// refused reports whether nothing listened for a connection.
func refused(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && operation.Op == "dial" && !operation.Timeout()
}

// pass forwards a connection. Without a replica that is ready, it closes the connection.
func (s *Service) pass(ctx context.Context, client net.Conn, delay time.Duration) {
	defer client.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	upstream := s.connect(ctx)
	if upstream == nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _, _ = client.Close(), upstream.Close() })()
	server := upstream
	if delay > 0 {
		server = newLate(ctx, upstream, delay)
	}
	Join(client, server)
}

// connect connects to any replica that is ready; nil if there is none.
func (s *Service) connect(ctx context.Context) net.Conn {
	s.mu.Lock()
	var ready []*replica
	for _, name := range slices.Sorted(maps.Keys(s.replicas)) {
		if r := s.replicas[name]; r.ready {
			ready = append(ready, r)
		}
	}
	s.mu.Unlock()
	rand.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
	for _, r := range ready {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", r.address)
		switch {
		case err == nil:
			return connection
		case ctx.Err() != nil:
			return nil
		}
		s.note(r, err)
	}
	return nil
}
