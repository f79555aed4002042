package ports_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/ports"
)

func TestReserve(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	one, err := ports.Reserve(dir, "127.0.0.1", 200)
	if err != nil {
		t.Fatal(err)
	}
	two, err := ports.Reserve(dir, "127.0.0.1", 200)
	if err != nil {
		t.Fatal(err)
	}
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
	one.Release()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 200 {
		t.Errorf("%d locks after a release, %v; want 200", len(entries), err)
	}
}

func TestNoSuchAddress(t *testing.T) {
	if _, err := ports.Reserve(t.TempDir(), "192.0.2.1", 1); err == nil {
		t.Error("a port of an address that is not this machine's")
	}
}
