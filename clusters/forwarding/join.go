// Package forwarding forwards TCP connections to an API server, or to the replicas of a program.
package forwarding

import (
	"io"
	"net"
	"sync"
)

// halfCloser is a connection that can be closed for writing alone.
type halfCloser interface{ CloseWrite() error }

// Join copies in both directions until both sides have closed, and closes b. When one side closes, Join closes the
// other for writing.
func Join(a, b net.Conn) {
	defer b.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			if _, err := io.Copy(way[1], way[0]); err != nil {
				_ = way[1].Close()
			}
			if half, ok := way[1].(halfCloser); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
