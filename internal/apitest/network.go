package apitest

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"
)

// network connects the clients to the server. It refuses connections itself: if it closed the server's port instead,
// another process might take it.
type network struct {
	mu          sync.Mutex
	down        bool
	connections []net.Conn
}

func (n *network) dial(ctx context.Context, protocol, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	connection, err := new(net.Dialer).DialContext(ctx, protocol, address)
	if err != nil {
		return nil, err
	}
	if n.down {
		_ = connection.Close()
		return nil, &net.OpError{
			Op: "dial", Net: protocol, Addr: connection.RemoteAddr(), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
		}
	}
	n.connections = append(n.connections, connection)
	return connection, nil
}

func (n *network) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for _, connection := range n.connections {
		_ = connection.Close()
	}
	n.connections = nil
}

func (n *network) open() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}
