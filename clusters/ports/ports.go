// Package ports finds unused ports, and reserves them against other clusters on this machine.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are below the range that the kernel uses for outgoing connections, so that no such connection takes one while
// its process restarts.
const first, last = 20000, 32000

// Reservation holds ports until Release; the kernel releases them when the program ends. The zero Reservation holds
// none.
type Reservation struct {
	// Numbers of the ports.
	Numbers []int

	locks []net.Listener
}

// Release releases the ports.
func (r *Reservation) Release() {
	for _, lock := range r.locks {
		_ = lock.Close()
	}
	r.locks = nil
}

// Reserve picks n ports that are free on an address of this machine, and locks them against every other Reserve here.
func Reserve(host string, n int) (*Reservation, error) {
	r := &Reservation{}
	for range n {
		if err := r.one(host); err != nil {
			r.Release()
			return nil, err
		}
	}
	return r, nil
}

func (r *Reservation) one(host string) error {
	for range 1000 {
		port := first + rand.IntN(last-first)
		// An abstract socket is a machine-wide lock that leaves no file, however its holder ends.
		lock, err := net.Listen("unix", "@rehearse-port-"+strconv.Itoa(port))
		if err != nil {
			continue // locked by another Reserve
		}
		if Free(host, port) {
			r.locks, r.Numbers = append(r.locks, lock), append(r.Numbers, port)
			return nil
		}
		_ = lock.Close()
	}
	return fmt.Errorf("no free port on %s between %d and %d", host, first, last)
}

// Free reports whether no process listens on the port of that address, neither TCP nor UDP.
func Free(host string, port int) bool {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	defer udp.Close()
	return true
}
