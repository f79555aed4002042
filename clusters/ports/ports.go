// Package ports finds ports that nobody listens on, and holds them against other clusters of this user.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Ports are taken from below the range that the kernel hands to outgoing connections, so that nothing takes one while
// its process restarts.
const first, last = 20000, 32000

// Reservation holds ports until Release; the kernel releases them when the program ends. The zero Reservation holds none.
type Reservation struct {
	// Numbers of the ports.
	Numbers []int

	files []*os.File
}

// Release gives the ports back.
func (r *Reservation) Release() {
	for _, file := range r.files {
		_ = os.Remove(file.Name())
		_ = file.Close()
	}
	r.files = nil
}

// Reserve picks n ports that are free on an address of this machine, and locks them in a folder that all clusters share.
func Reserve(dir, host string, n int) (*Reservation, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for port locks: %w", err)
	}
	r := &Reservation{}
	for range n {
		if err := r.one(dir, host); err != nil {
			r.Release()
			return nil, err
		}
	}
	return r, nil
}

func (r *Reservation) one(dir, host string) error {
	for range 1000 {
		port := first + rand.IntN(last-first)
		file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return fmt.Errorf("lock port %d: %w", port, err)
		}
		ours := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
		if ours && free(host, port) {
			r.files, r.Numbers = append(r.files, file), append(r.Numbers, port)
			return nil
		}
		if ours {
			_ = os.Remove(file.Name())
		}
		_ = file.Close()
	}
	return fmt.Errorf("no free port on %s between %d and %d", host, first, last)
}

// free says whether nobody listens on the port, neither TCP nor UDP.
func free(host string, port int) bool {
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
