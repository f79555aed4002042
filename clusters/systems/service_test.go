package systems

import (
	"errors"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// replicaOf returns a system with a service, whose program runs.
func replicaOf(t *testing.T, all *places, name, service string) (*system, func() error) {
	t.Helper()
	at, client := programAt(t)
	sys := &system{place: at, definition: clusters.System{
		Name: name, Process: &clusters.SystemProcess{Command: []string{"x"}, Service: service},
	}}
	golden.Must(t, all.joinService(sys))
	look, err := sys.readiness()
	if err != nil {
		t.Fatal(err)
	}
	sys.place.service.enter(sys, true, look)
	return sys, func() error {
		client.CloseIdleConnections()
		return get(t.Context(), client, sys.place.service.url())
	}
}

// Two systems are the replicas of one service, and another has its own.
func TestServices(t *testing.T) {
	all := &places{}
	one, callOne := replicaOf(t, all, "one", "op")
	other, callOther := replicaOf(t, all, "other", "other")
	if one.place.service.Address() == other.place.service.Address() {
		t.Error("two services have one address")
	}
	golden.Must(t, errors.Join(callOne(), callOther()))
	two := &system{place: &place{host: loopback}, definition: one.definition}
	two.definition.Name = "two"
	if err := all.joinService(two); err != nil || two.place.service != one.place.service {
		t.Fatalf("the second replica has another service, or none: %v", err)
	}
	for _, step := range []struct {
		replica string
		calls   clusters.WebhookCalls
		changes bool
		refused bool
	}{
		{"one", clusters.WebhookCalls{}, false, false},
		{"two", clusters.WebhookCalls{Away: true}, true, true},
		{"one", clusters.WebhookCalls{}, false, true},
		{"one", clusters.WebhookCalls{Delay: "1ms"}, true, false},
		{"two", clusters.WebhookCalls{}, false, false},
		{"one", clusters.WebhookCalls{}, true, false},
	} {
		changed, err := one.place.service.answer(step.replica, step.calls)
		if err != nil || changed != step.changes {
			t.Errorf("%+v: changed %v, %v", step, changed, err)
		}
		if err := callOne(); errors.Is(err, syscall.ECONNREFUSED) != step.refused || err != nil && !step.refused {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if _, err := one.place.service.answer("one", clusters.WebhookCalls{Certificate: "expired"}); err == nil {
		t.Error("a service has no certificate")
	}
	if _, err := one.place.service.answer("one", clusters.WebhookCalls{}); err != nil {
		t.Error(err)
	}
	if !replicas(one, two) || replicas(one, other) {
		t.Error("one and two are replicas, other is not")
	}
	all.leaveService(two)
	if err := callOne(); err != nil {
		t.Errorf("one replica has left: %v", err)
	}
	url := one.place.service.url()
	all.leaveService(one)
	all.leaveService(one)
	if err := get(t.Context(), http.DefaultClient, url); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without replicas the service has ended: %v", err)
	}
	all.leaveService(other)
	if len(all.services) != 0 {
		t.Errorf("%d services are left", len(all.services))
	}
}

func TestReplicasWantTheSameCalls(t *testing.T) {
	replica := func(name, service string, calls *clusters.WebhookCalls) clusters.System {
		return clusters.System{Name: name, WebhookCalls: calls, Process: &clusters.SystemProcess{Service: service}}
	}
	away, late := &clusters.WebhookCalls{Away: true}, &clusters.WebhookCalls{Delay: "1s"}
	for _, test := range []struct {
		name string
		list []clusters.System
		want bool
	}{
		{"one", []clusters.System{replica("a", "s", away), replica("b", "s", nil)}, true},
		{"both", []clusters.System{replica("a", "s", away), replica("b", "s", &clusters.WebhookCalls{Away: true})}, true},
		{"different", []clusters.System{replica("a", "s", away), replica("b", "s", late)}, false},
		{"two services", []clusters.System{replica("a", "s", away), replica("b", "t", late)}, true},
		{"no service", []clusters.System{replica("a", "", away), replica("b", "", late)}, true},
	} {
		if err := sameCalls(test.list); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A new process of a replica gets no connections before it is ready itself, although the one before it was ready.
func TestNewProcessOfAReplica(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	system := sleeper("a")
	system.Process.Service = "op"
	system.Process.Ready = &clusters.SystemReadiness{TCP: listening(t)}
	converge(t, s, system)
	service := s.system("a").place.service
	if left := service.Remove("no such replica"); left != 1 {
		t.Fatalf("%d replicas, want the one that is ready", left)
	}
	system.Process = &clusters.SystemProcess{
		Command: []string{"sh", "-c", "exit 2"}, Service: "op",
		Ready: &clusters.SystemReadiness{TCP: listening(t), InitialDelay: "2m"},
	}
	if err := s.Converge(t.Context(), []clusters.System{system}); err == nil {
		t.Error("a process that ended was ready")
	}
	if left := service.Remove("no such replica"); left != 0 {
		t.Errorf("%d replicas, want none: the old process has ended, and the new one was never ready", left)
	}
}

// The first check of a program comes after its initial delay, also if it need not be ready.
func TestChecksBeforeTheInitialDelay(t *testing.T) {
	sys := &system{program: program{ready: clusters.SystemReadiness{TCP: listening(t), InitialDelay: "1m"}}}
	for _, test := range []struct {
		ago  time.Duration
		want error
	}{{0, errEarly}, {59 * time.Second, errEarly}, {time.Minute, nil}} {
		sys.started = time.Now().Add(-test.ago)
		look, err := sys.readiness()
		golden.Must(t, err)
		if err := look(t.Context()); !errors.Is(err, test.want) {
			t.Errorf("after %s: got %v, want %v", test.ago, err, test.want)
		}
	}
}
