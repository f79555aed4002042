package places

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/forwarding"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// Service is the address in front of one or more systems, their replicas. It is where the API server calls the webhooks
// of their definitions. A program that registers its webhooks itself uses this address for them.
type Service struct {
	*forwarding.Service
	held *ports.Reservation
	// replicas are the places of the systems, by their names.
	replicas map[string]*Place
	// wanted is how the definition of each replica wants calls to be answered, is how they are answered.
	wanted map[string]clusters.WebhookCalls
	is     clusters.WebhookCalls
}

// Join makes a system a replica of the service that its definition names, if any. The first one creates it.
func (ps *Places) Join(p *Place, definition clusters.System) error {
	name := ""
	if launched := definition.Launched(); launched != nil {
		name = launched.Service
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if old := p.Service; old != nil && old != ps.services[name] {
		ps.removeReplica(p, definition.Name)
	}
	if name == "" || p.Service != nil {
		return nil
	}
	joined := ps.services[name]
	if joined == nil {
		held, err := reserve(p.host, 1)
		if err != nil {
			return err
		}
		address := net.JoinHostPort(p.host, strconv.Itoa(held.Numbers[0]))
		joined = &Service{
			Service: forwarding.NewService(address), held: held, replicas: map[string]*Place{},
			wanted: map[string]clusters.WebhookCalls{},
		}
		if err := joined.Listen(0); err != nil {
			held.Release()
			return err
		}
		if ps.services == nil {
			ps.services = map[string]*Service{}
		}
		ps.services[name] = joined
	}
	p.Service = joined
	joined.replicas[definition.Name], joined.wanted[definition.Name] = p, clusters.WebhookCalls{}
	return nil
}

// Leave removes a system from its service's replicas. Without replicas, the service ends.
func (ps *Places) Leave(p *Place, system string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.removeReplica(p, system)
}

// removeReplica is Leave while the places are locked.
func (ps *Places) removeReplica(p *Place, system string) {
	left := p.Service
	if left == nil {
		return
	}
	p.Service = nil
	left.Remove(system)
	delete(left.replicas, system)
	delete(left.wanted, system)
	if len(left.replicas) > 0 {
		return
	}
	left.Close()
	left.held.Release()
	for name, known := range ps.services {
		if known == left {
			delete(ps.services, name)
		}
	}
}

// authorities are the certificates of the authorities of all replicas that have one.
func (s *Service) authorities() ([]byte, error) {
	var all []byte
	for _, name := range clusters.SortedKeys(s.replicas) {
		ca, err := s.replicas[name].Authority()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, ca...)
	}
	return all, nil
}

// URL is where the API server calls webhooks through the service.
func (s *Service) URL() string { return "https://" + s.Address() }

// Enter makes a program a target of connections, now or once it is ready.
func (s *Service) Enter(system string, at *Place, ready bool, look func(context.Context) error) {
	s.Add(system, at.Address(), ready, look)
}

// Calls is how calls are answered.
func (s *Service) Calls() clusters.WebhookCalls { return s.is }

// Answer makes the service answer calls as one of its replicas wants it. A replica that wants nothing special does not
// count. Answer reports whether this is a change.
func (s *Service) Answer(replica string, calls clusters.WebhookCalls, now time.Time) (bool, error) {
	at := s.replicas[replica]
	s.wanted[replica] = calls
	for _, name := range clusters.SortedKeys(s.wanted) {
		if other := s.wanted[name]; calls.Usual() && !other.Usual() {
			calls = other
		}
	}
	if calls == s.is {
		return false, nil
	}
	if calls.Certificate != "" && !at.hasWebhooks {
		return false, errors.New("webhookCalls: the service supports no certificate, since its programs have their own")
	}
	return true, s.become(calls, at, now)
}

// become changes how calls are answered. An expired certificate is signed by the authority of a replica.
func (s *Service) become(calls clusters.WebhookCalls, at *Place, now time.Time) error {
	delay, err := calls.Wait()
	if err != nil {
		return err
	}
	s.is = clusters.WebhookCalls{Away: true} // also after an error
	switch {
	case calls.Away:
		s.Refuse()
	case calls.Certificate == clusters.CertificateExpired:
		pair, err := at.expired(now)
		if err != nil {
			return err
		}
		if err := s.Present(pair); err != nil {
			return err
		}
	default:
		if err := s.Listen(delay); err != nil {
			return err
		}
	}
	s.is = calls
	return nil
}
