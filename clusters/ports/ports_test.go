package ports_test

import (
	"net"
	"slices"
	"strconv"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestReserve(t *testing.T) {
	one, err := ports.Reserve("127.0.0.1", 200)
	golden.Must(t, err)
	two, err := ports.Reserve("127.0.0.1", 200)
	golden.Must(t, err)
	defer two.Release()
	all := slices.Concat(one.Numbers, two.Numbers)
	slices.Sort(all)
	if len(slices.Compact(all)) != 400 {
		t.Errorf("%d different ports of 400", len(slices.Compact(all)))
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(one.Numbers[0])))
	if err != nil {
		t.Fatalf("a reserved port cannot be listened on: %v", err)
	}
	defer listener.Close()
	lock := "@rehearse-port-" + strconv.Itoa(one.Numbers[1])
	if held, err := net.Listen("unix", lock); err == nil {
		held.Close()
		t.Error("a reserved port is not locked")
	}
	one.Release()
	held, err := net.Listen("unix", lock)
	if err != nil {
		t.Fatalf("a port that was given back is still locked: %v", err)
	}
	held.Close()
}

func TestNoSuchAddress(t *testing.T) {
	if _, err := ports.Reserve("192.0.2.1", 1); err == nil {
		t.Error("a port of an address that is not this machine's")
	}
}
