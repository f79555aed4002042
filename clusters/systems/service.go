package systems

import (
	"context"
	"errors"
	"net"
	"strconv"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/forwarding"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// service is the address in front of one or more systems, their replicas. A program that registers its webhooks itself
// uses this address for them.
type service struct {
	*forwarding.Service
	held *ports.Reservation
	// wanted is how the definition of each replica wants calls to be answered, is how they are answered.
	wanted map[string]clusters.WebhookCalls
	is     clusters.WebhookCalls
}

// joinService makes a system a replica of the service that its definition names. The first one creates it.
func (s *places) joinService(sys *system) error {
	name := ""
	if p := sys.definition.Launched(); p != nil {
		name = p.Service
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := sys.place.service; old != nil && old != s.services[name] {
		s.removeReplica(sys)
	}
	if name == "" || sys.place.service != nil {
		return nil
	}
	joined := s.services[name]
	if joined == nil {
		held, err := reserve(sys.place.host, 1)
		if err != nil {
			return err
		}
		address := net.JoinHostPort(sys.place.host, strconv.Itoa(held.Numbers[0]))
		joined = &service{
			Service: forwarding.NewService(address), held: held, wanted: map[string]clusters.WebhookCalls{},
		}
		if err := joined.Listen(0); err != nil {
			held.Release()
			return err
		}
		if s.services == nil {
			s.services = map[string]*service{}
		}
		s.services[name] = joined
	}
	sys.place.service = joined
	joined.wanted[sys.definition.Name] = clusters.WebhookCalls{}
	return nil
}

// leaveService removes a system from its service's replicas. Without replicas, the service ends.
func (s *places) leaveService(sys *system) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeReplica(sys)
}

// removeReplica is leaveService while the places are locked.
func (s *places) removeReplica(sys *system) {
	left := sys.place.service
	if left == nil {
		return
	}
	sys.place.service = nil
	left.Remove(sys.definition.Name)
	delete(left.wanted, sys.definition.Name)
	if len(left.wanted) > 0 {
		return
	}
	left.Close()
	left.held.Release()
	for name, known := range s.services {
		if known == left {
			delete(s.services, name)
		}
	}
}

// url is where the API server calls webhooks through the service.
func (s *service) url() string { return "https://" + s.Address() }

// enter makes a program a target of connections, now or once it is ready.
func (s *service) enter(sys *system, ready bool, look func(context.Context) error) {
	address := net.JoinHostPort(sys.place.host, strconv.Itoa(sys.place.port))
	s.Add(sys.definition.Name, address, ready, look)
}

// answer makes the service answer calls as one of its replicas wants it. A replica that wants nothing special does not
// count. answer reports whether this is a change.
func (s *service) answer(replica string, calls clusters.WebhookCalls) (bool, error) {
	s.wanted[replica] = calls
	for _, name := range clusters.SortedKeys(s.wanted) {
		if other := s.wanted[name]; calls.Usual() && !other.Usual() {
			calls = other
		}
	}
	if calls == s.is {
		return false, nil
	}
	if calls.Certificate != "" {
		return false, errors.New("webhookCalls: a service supports no certificate, since its program has its own")
	}
	delay, err := calls.Wait()
	if err != nil {
		return false, err
	}
	s.is = clusters.WebhookCalls{Away: true} // also after an error
	if calls.Away {
		s.Refuse()
		return true, nil
	}
	if err := s.Listen(delay); err != nil {
		return false, err
	}
	s.is = calls
	return true, nil
}
