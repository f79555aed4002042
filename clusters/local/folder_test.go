package local

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestRecordRoundTrip(t *testing.T) {
	want := record{
		Record: folders.Record{Name: "c", Lasting: true, State: clusters.State{Version: "1.34.4"}},
		Ports:  listening{Etcd: 20001}, Processes: map[string]started{"etcd": {PID: 7, Args: []string{"a"}}},
	}
	dir := t.TempDir()
	golden.Must(t, folders.Write(dir, want))
	var got record
	golden.Must(t, folders.Read(dir, &got))
	if got.State.Version != "1.34.4" || got.Ports.Etcd != 20001 || got.Processes["etcd"].PID != 7 || !got.Lasting {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPortsAreReservedOnce(t *testing.T) {
	a, heldA, err := reservePorts(1)
	golden.Must(t, err)
	b, heldB, err := reservePorts(1)
	golden.Must(t, err)
	seen := map[int]bool{}
	for _, port := range []int{
		a.Etcd, a.EtcdPeer, a.APIServer, a.ControllerManager, a.Scheduler, a.DNS, a.DNSReady,
		b.Etcd, b.EtcdPeer, b.APIServer, b.ControllerManager, b.Scheduler, b.DNS, b.DNSReady,
	} {
		if port == 0 || seen[port] {
			t.Errorf("port %d is none, or taken twice", port)
		}
		seen[port] = true
	}
	heldA.Release()
	heldB.Release()
}
