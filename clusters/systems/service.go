package systems

import (
	"context"
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
	host string
	held *ports.Reservation
	// wanted is how the definition of each replica wants calls to be answered, is how they are answered.
	wanted map[string]clusters.WebhookCalls
	is     clusters.WebhookCalls
}

// join makes a system a replica of the service that its definition names. The service is created for the first one.
func (s *places) join(sys *system) error {
	name := ""
	if p := sys.definition.Launched(); p != nil {
		name = p.Service
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := sys.place.service; old != nil && old != s.services[name] {
		s.leave(sys)
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
			Service: forwarding.NewService(address), host: sys.place.host, held: held,
			wanted: map[string]clusters.WebhookCalls{},
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

// part makes a system no replica any more. Without replicas, the service ends.
func (s *places) part(sys *system) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(sys)
}

func (s *places) leave(sys *system) {
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

// alone reports whether the service has one replica.
func (s *service) alone() bool { return len(s.wanted) == 1 }

// enter makes a program that is ready a target of connections.
func (s *service) enter(sys *system, look func(context.Context) error) {
	address := net.JoinHostPort(sys.place.host, strconv.Itoa(sys.place.port))
	s.Add(sys.definition.Name, address, look)
}

// answer makes the service answer calls as one of its replicas wants it. Replicas that want nothing special have no say.
// It reports whether this is a change.
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
	delay, err := calls.Wait()
	if err != nil {
		return false, err
	}
	s.is = calls
	if calls.Away {
		s.Refuse()
		return true, nil
	}
	return true, s.Listen(delay)
}
