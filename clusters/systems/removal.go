package systems

import (
	"context"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// releaseObjects returns what must be deleted with a system: the objects that were created for it, and the
// configurations of the webhooks that are called at its process. If its service has another replica, that one gets the
// objects instead. After an error, it also returns what it knows.
func (s *Set) releaseObjects(ctx context.Context, sys *system) ([]objects.Reference, error) {
	created := slices.Clone(sys.installation.Objects)
	if sys.place == nil || sys.process == nil { // it never ran: other webhooks at its address are not its own
		return created, nil
	}
	addresses := []string{sys.place.URL()} // a program may have registered itself again, beside its front
	if others := s.replicasBeside(sys); len(others) > 0 {
		others[0].installation.TakeOver(&sys.installation)
		created = nil
	} else {
		addresses = append(addresses, sys.place.CalledAt())
		if behind := sys.place.Service; behind != nil {
			addresses = append(addresses, behind.URL())
		}
	}
	slices.Sort(addresses)
	var errs []error
	for _, address := range slices.Compact(addresses) {
		hooks, err := s.webhooks.At(ctx, address)
		for _, h := range hooks {
			created = objects.Add(created, h.Configuration)
		}
		errs = append(errs, err)
	}
	return created, errors.Join(errs...)
}

// deleter deletes objects, and returns when they no longer exist.
type deleter interface {
	DeleteAll(ctx context.Context, all []objects.Reference) error
}

// remove deletes a system and everything that was created for it. The objects of its CRDs are deleted first, while it
// still runs.
func (s *Set) remove(ctx context.Context, sys *system) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	s.Progress("removing system %s", sys.definition)
	created, err := s.releaseObjects(ctx, sys)
	if err := errors.Join(err, s.deleter.DeleteAll(ctx, created)); err != nil {
		return err
	}
	others := s.replicasBeside(sys)
	if err := s.end(ctx, sys); err != nil {
		return err
	}
	s.forget(sys)
	if len(others) > 0 {
		return s.installer.trust(ctx, others[0], s.places)
	}
	return nil
}

// end ends a system's process and releases its place.
func (s *Set) end(ctx context.Context, sys *system) error {
	if sys.process != nil {
		if err := sys.process.Stop(ctx, stopGrace); err != nil {
			return err
		}
		sys.process = nil
	}
	if sys.place != nil {
		s.places.Leave(sys.place, sys.definition.Name)
		sys.place.Release()
	}
	return nil
}
