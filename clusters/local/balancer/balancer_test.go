package balancer

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// echo is a server that sends its name to every client.
func echo(t *testing.T, name string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Write([]byte(name + "\n"))
			_ = connection.Close()
		}
	}()
	return listener
}

// Connections go to ready servers in turn, and to one that is not ready only if no other accepts them.
func TestBalancer(t *testing.T) {
	a, b := echo(t, "a"), echo(t, "b")
	var mu sync.Mutex
	notReady := map[string]bool{}
	leaving := Leaving(filepath.Join(t.TempDir(), "leaving"))
	balancer := newBalancer([]string{a.Addr().String(), b.Addr().String()}, leaving, func(_ context.Context, address string) error {
		mu.Lock()
		defer mu.Unlock()
		if notReady[address] {
			return errors.New("not ready")
		}
		return nil
	})
	front, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	defer front.Close()
	go balancer.serve(t.Context(), front)
	look := func() {
		for _, s := range balancer.servers {
			s.ready.Store(balancer.ready(t.Context(), s.address) == nil)
		}
	}
	ask := func(times int) string {
		var names []string
		for range times {
			connection, err := net.Dial("tcp", front.Addr().String())
			golden.Must(t, err)
			name, _ := bufio.NewReader(connection).ReadString('\n')
			_ = connection.Close()
			names = append(names, name)
		}
		slices.Sort(names)
		return joined(slices.Compact(names))
	}
	set := func(l net.Listener, ready bool) {
		mu.Lock()
		notReady[l.Addr().String()] = !ready
		mu.Unlock()
		look()
	}
	look()
	if got := ask(4); got != "a b " {
		t.Errorf("both ready: %q", got)
	}
	set(a, false)
	if got := ask(4); got != "b " {
		t.Errorf("a is not ready: %q", got)
	}
	set(a, true)
	golden.Must(t, leaving.Add(a.Addr().String()))
	if got := ask(4); got != "b " {
		t.Errorf("a leaves: %q", got)
	}
	set(b, false)
	if got := ask(4); got != "b " {
		t.Errorf("a leaves and b is not ready: %q", got)
	}
	set(b, true)
	for range 2 { // a second Remove is no error
		golden.Must(t, leaving.Remove(a.Addr().String()))
	}
	if got := ask(4); got != "a b " {
		t.Errorf("a is back: %q", got)
	}
	_ = b.Close() // it was ready a moment ago
	if got := ask(4); got != "a " {
		t.Errorf("b does not listen: %q", got)
	}
	set(a, false)
	if got := ask(2); got != "a " {
		t.Errorf("none is ready: %q", got)
	}
}

// full is a listener for which there is no file descriptor at first.
type full struct {
	net.Listener
	failed atomic.Bool
}

func (l *full) Accept() (net.Conn, error) {
	if !l.failed.Swap(true) {
		return nil, syscall.EMFILE
	}
	return l.Listener.Accept()
}

// A connection that cannot be accepted at the moment does not end the balancer.
func TestBalancerOutlivesAnError(t *testing.T) {
	balancer := newBalancer([]string{echo(t, "a").Addr().String()}, Leaving(filepath.Join(t.TempDir(), "leaving")), nil)
	front, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer front.Close()
		balancer.serve(t.Context(), &full{Listener: front})
	}()
	connection, err := net.Dial("tcp", front.Addr().String())
	golden.Must(t, err)
	defer connection.Close()
	if name, err := bufio.NewReader(connection).ReadString('\n'); name != "a\n" {
		t.Errorf("got %q, %v", name, err)
	}
	_ = front.Close()
	<-served
}

func joined(lines []string) string {
	text := ""
	for _, line := range lines {
		text += line[:len(line)-1] + " "
	}
	return text
}
