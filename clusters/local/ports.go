package local

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
// its component restarts.
const firstPort, lastPort = 20000, 32000

// ports are a cluster's listening ports on 127.0.0.1.
type ports struct {
	Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, DNS, DNSReady int
}

// reservation holds ports against other clusters of this user until release.
type reservation struct {
	files []*os.File
}

func (r *reservation) release() {
	for _, file := range r.files {
		_ = os.Remove(file.Name())
		_ = file.Close()
	}
}

// reservePorts picks free ports and locks them in a folder that all clusters share.
func reservePorts(dir string) (ports, *reservation, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ports{}, nil, fmt.Errorf("make the folder for port locks: %w", err)
	}
	var p ports
	held := &reservation{}
	for _, port := range []*int{&p.Etcd, &p.EtcdPeer, &p.APIServer, &p.ControllerManager, &p.Scheduler, &p.DNS, &p.DNSReady} {
		n, err := reserveOne(dir, held)
		if err != nil {
			held.release()
			return ports{}, nil, err
		}
		*port = n
	}
	return p, held, nil
}

func reserveOne(dir string, held *reservation) (int, error) {
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // a port is no secret
		file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return 0, fmt.Errorf("lock port %d: %w", port, err)
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && free(port) {
			held.files = append(held.files, file)
			return port, nil
		}
		_ = file.Close()
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 between %d and %d", firstPort, lastPort)
}

// free says whether nobody listens on the port, neither TCP nor UDP.
func free(port int) bool {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
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
