package places

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// replica is a system with a service, whose program runs.
type replica struct {
	*Place
	definition clusters.System
	client     *http.Client
}

func replicaOf(t *testing.T, all *Places, name, service string) *replica {
	t.Helper()
	at, client := programAt(t)
	r := &replica{at, clusters.System{Name: name, Process: &clusters.SystemProcess{Service: service}}, client}
	golden.Must(t, all.Join(at, r.definition))
	at.Service.Enter(name, at, true, func(context.Context) error { return nil })
	return r
}

// call calls the service on a new connection.
func (r *replica) call() error {
	r.client.CloseIdleConnections()
	response, err := r.client.Get(r.Service.URL())
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Two systems are the replicas of one service, and another has its own.
func TestServices(t *testing.T) {
	all := &Places{}
	one := replicaOf(t, all, "one", "op")
	other := replicaOf(t, all, "other", "other")
	if one.Service.Address() == other.Service.Address() {
		t.Error("two services have one address")
	}
	golden.Must(t, errors.Join(one.call(), other.call()))
	two, definition := &Place{host: loopback}, one.definition
	definition.Name = "two"
	if err := all.Join(two, definition); err != nil || two.Service != one.Service {
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
		changed, err := one.Service.Answer(step.replica, step.calls, time.Now())
		if err != nil || changed != step.changes {
			t.Errorf("%+v: changed %v, %v", step, changed, err)
		}
		if err := one.call(); errors.Is(err, syscall.ECONNREFUSED) != step.refused || err != nil && !step.refused {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if _, err := one.Service.Answer("one", clusters.WebhookCalls{Certificate: "expired"}, time.Now()); err == nil {
		t.Error("a service has no certificate")
	}
	if _, err := one.Service.Answer("one", clusters.WebhookCalls{}, time.Now()); err != nil {
		t.Error(err)
	}
	all.Leave(two, "two")
	if err := one.call(); err != nil {
		t.Errorf("one replica has left: %v", err)
	}
	address := one.Service.Address()
	all.Leave(one.Place, "one")
	all.Leave(one.Place, "one")
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without replicas the service has ended: %v", err)
	}
	all.Leave(other.Place, "other")
	if len(all.services) != 0 {
		t.Errorf("%d services are left", len(all.services))
	}
}

// A client that trusts the service trusts each of its replicas, also one that has no certificate yet.
func TestAuthoritiesOfAService(t *testing.T) {
	all := &Places{}
	one, other := replicaOf(t, all, "one", "op"), replicaOf(t, all, "other", "op")
	golden.Must(t, all.Join(&Place{Dir: t.TempDir(), host: loopback}, clusters.System{
		Name: "new", Process: &clusters.SystemProcess{Service: "op"},
	}))
	trusted, err := one.Service.authorities()
	golden.Must(t, err)
	client := clientThatTrusts(trusted)
	for _, r := range []*replica{one, other} {
		r.client = client
		one.Service.Remove(map[*replica]string{one: "other", other: "one"}[r])
		if err := r.call(); err != nil {
			t.Errorf("only %s answers: %v", r.definition.Name, err)
		}
		one.Service.Enter("other", other.Place, true, func(context.Context) error { return nil })
	}
}

// If the certificates of a service's replicas are from Rehearse, one can be expired, also after they were renewed.
func TestExpiredCertificateOfAService(t *testing.T) {
	all := &Places{Now: time.Now}
	r := replicaOf(t, all, "one", "op")
	r.hasWebhooks = true
	expired := clusters.WebhookCalls{Certificate: clusters.CertificateExpired}
	check := func() {
		t.Helper()
		var invalid x509.CertificateInvalidError
		if err := r.call(); !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
			t.Errorf("got %v, want an expired certificate", err)
		}
	}
	if changed, err := r.Service.Answer("one", expired, time.Now()); err != nil || !changed {
		t.Fatal(changed, err)
	}
	check()
	ca, err := all.Certify(r.Place, nil)
	golden.Must(t, errors.Join(err, r.Renew(expired, time.Now())))
	r.client = clientThatTrusts(ca)
	check()
}
