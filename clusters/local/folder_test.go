package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

func folder(t *testing.T, root, name string, r *record) string {
	t.Helper()
	dir := filepath.Join(root, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if r != nil {
		if err := writeRecord(dir, *r); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSweepRemovesOnlyWhatNobodyHolds(t *testing.T) {
	root := t.TempDir()
	folder(t, root, "killed-before-its-record", nil)
	folder(t, root, "killed", &record{Name: "killed"})
	folder(t, root, "lasting", &record{Name: "lasting", Lasting: true})
	held, err := lockFolder(folder(t, root, "running", &record{Name: "running"}))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()

	removed, err := sweep(root)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"killed", "killed-before-its-record"}; !slices.Equal(removed, want) {
		t.Errorf("removed %v, want %v", removed, want)
	}
	left, _ := filepath.Glob(filepath.Join(root, "*"))
	if want := []string{filepath.Join(root, "lasting"), filepath.Join(root, "running")}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestRecordRoundTrip(t *testing.T) {
	want := record{Name: "c", Lasting: true, State: clusters.State{Version: "1.34.4"}, Ports: listening{Etcd: 20001}, Processes: map[string]started{"etcd": {PID: 7, Args: []string{"a"}}}}
	dir := folder(t, t.TempDir(), "c", &want)
	got, err := readRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.State.Version != "1.34.4" || got.Ports.Etcd != 20001 || got.Processes["etcd"].PID != 7 || !got.Lasting {
		t.Errorf("got %+v, want %+v", got, want)
	}
	info, err := os.Stat(filepath.Join(dir, recordFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("record file: mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestReadRecordOfNothing(t *testing.T) {
	_, err := readRecord(filepath.Join(t.TempDir(), "gone"))
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("got %v, want ErrNotFound with the cluster's name", err)
	}
}

func TestClaimRefusesATakenName(t *testing.T) {
	p := &Provider{Options: Options{Root: filepath.Join(t.TempDir(), "clusters")}}
	_, lock, err := p.claim("one")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, _, err := p.claim("one"); err == nil || !strings.Contains(err.Error(), "rehearse cluster delete one") {
		t.Errorf("got %v, want an error that says how to delete the cluster", err)
	}
}

func TestPortsAreReservedOnce(t *testing.T) {
	dir := t.TempDir()
	a, heldA, err := reservePorts(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, heldB, err := reservePorts(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range []int{a.Etcd, a.EtcdPeer, a.APIServer, a.ControllerManager, a.Scheduler, a.DNS, a.DNSReady, b.Etcd, b.EtcdPeer, b.APIServer, b.ControllerManager, b.Scheduler, b.DNS, b.DNSReady} {
		if port == 0 || seen[port] {
			t.Errorf("port %d is none, or taken twice", port)
		}
		seen[port] = true
	}
	heldA.Release()
	heldB.Release()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("Release left %v", left)
	}
}
