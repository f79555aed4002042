package forwarding

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// late is a connection to a server whose answers come late. The client's first message begins the TLS handshake, and
// its answer is not late: a slow webhook is slow after the handshake.
type late struct {
	net.Conn
	ctx   context.Context
	delay time.Duration
	// asked counts the client's messages.
	asked atomic.Int64
	// answers of the server, and the rest of the one that is being read.
	answers chan answer
	rest    []byte
	err     error
}

// answer is what was read from a server at once.
type answer struct {
	due  time.Time
	text []byte
	err  error
}

func newLate(ctx context.Context, server net.Conn, delay time.Duration) *late {
	l := &late{Conn: server, ctx: ctx, delay: delay, answers: make(chan answer, 64)}
	go l.receive()
	return l
}

// receive reads answers as they come, so that each is late by the same time.
func (l *late) receive() {
	for {
		buffer := make([]byte, 32<<10)
		n, err := l.Conn.Read(buffer)
		a := answer{time.Now(), buffer[:n], err}
		if l.asked.Load() > 1 {
			a.due = a.due.Add(l.delay)
		}
		select {
		case l.answers <- a:
		case <-l.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Write sends a message to the server.
func (l *late) Write(message []byte) (int, error) {
	l.asked.Add(1)
	return l.Conn.Write(message)
}

// Read returns the next answer of the server, once it is due.
func (l *late) Read(into []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		select {
		case <-l.ctx.Done():
			return 0, context.Cause(l.ctx)
		case a := <-l.answers:
			pauses.For(l.ctx, time.Until(a.due))
			l.rest, l.err = a.text, a.err
		}
	}
	n := copy(into, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// CloseWrite ends the client's messages.
func (l *late) CloseWrite() error {
	if half, ok := l.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return nil
}
