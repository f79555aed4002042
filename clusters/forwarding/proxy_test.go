package forwarding

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// serving passes each connection to an address to a function, until the listener is closed.
func serving(t *testing.T, address string, serve func(net.Conn)) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	golden.Must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(connection)
		}
	}()
	return listener
}

// echo answers each line of each connection with the same line.
func echo(t *testing.T, address string) net.Listener {
	t.Helper()
	return serving(t, address, func(connection net.Conn) { _, _ = io.Copy(connection, connection) })
}

// free is an address on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func proxyOf(t *testing.T, server string, ready func(context.Context) error) *Proxy {
	t.Helper()
	proxy, err := listen(server, ready)
	golden.Must(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// connect sends a line through the proxy.
func connect(t *testing.T, proxy *Proxy) (net.Conn, *bufio.Reader) {
	t.Helper()
	connection, err := net.Dial("tcp", proxy.listener.Addr().String())
	golden.Must(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	if _, err := io.WriteString(connection, "hello\n"); err != nil {
		t.Fatal(err)
	}
	return connection, bufio.NewReader(connection)
}

func TestConnectionsAreForwarded(t *testing.T) {
	proxy := proxyOf(t, echo(t, "127.0.0.1:0").Addr().String(), func(context.Context) error {
		return errors.New("not asked while the proxy does not hold")
	})
	_, answers := connect(t, proxy)
	if line, err := answers.ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	golden.Must(t, proxy.Close())
	if _, err := answers.ReadString('\n'); err == nil {
		t.Error("a closed proxy left its connection open")
	}
}

func TestAnOutageIsSeenWithoutHolding(t *testing.T) {
	_, answers := connect(t, proxyOf(t, free(t), func(context.Context) error { return nil }))
	if line, err := answers.ReadString('\n'); err == nil {
		t.Errorf("nothing listens, but the answer is %q", line)
	}
}

func TestAHeldConnectionWaitsUntilTheServerIsReady(t *testing.T) {
	var ready atomic.Bool
	looked := make(chan struct{}, 1000)
	server := free(t)
	proxy := proxyOf(t, server, func(context.Context) error {
		looked <- struct{}{}
		if ready.Load() {
			return nil
		}
		return errors.New("starting")
	})
	proxy.Hold(true)
	_, answers := connect(t, proxy)
	<-looked
	echo(t, server) // it listens before it is ready
	<-looked
	if answers.Buffered() > 0 {
		t.Error("the server got a connection before it was ready")
	}
	ready.Store(true)
	if line, err := answers.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
}
