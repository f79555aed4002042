package systems

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Converge makes the cluster have exactly these systems, in this order. It returns when each serves: its CRDs are
// established and can be discovered, its process is ready, and its webhooks have been seen to answer the API server. A
// changed system is restarted.
func (s *Set) Converge(ctx context.Context, wanted []clusters.System) error {
	s.converging.Lock()
	defer s.converging.Unlock()
	if err := sameCalls(wanted); err != nil {
		return err
	}
	s.hold(ctx)
	outage := s.seen.Happened(s.cluster)
	for _, sys := range s.all() {
		sys.pardon.Transition(outage, s.Now())
	}
	err := s.installer.Announced(ctx, func(allThere func()) error { return s.converge(ctx, wanted, allThere) })
	if outage {
		prolong := func() {
			for _, sys := range s.all() {
				sys.pardon.Prolong(s.Now())
			}
		}
		prolong()       // from here on an exit is noticed
		defer prolong() // ended may take long
	}
	s.held.Store(false)
	if err != nil {
		return err
	}
	return s.ended(ctx)
}

func (s *Set) converge(ctx context.Context, wanted []clusters.System, allThere func()) error {
	for _, sys := range slices.Backward(s.all()) {
		name, pods := sys.definition.Name, sys.definition.Kind() == "manifests"
		if !slices.ContainsFunc(wanted,
			func(w clusters.System) bool { return w.Name == name && (w.Kind() == "manifests") == pods }) {
			if err := s.remove(ctx, sys); err != nil {
				return fmt.Errorf("remove system %s: %w", name, err)
			}
		}
	}
	for i, definition := range wanted {
		installed := func() {}
		if i == len(wanted)-1 {
			installed = allThere
		}
		if err := s.one(ctx, definition, installed); err != nil {
			return fmt.Errorf("system %s: %w", definition, err)
		}
	}
	return s.calls.settleServices(ctx, s.all())
}

// ended returns an error if a process exited unexpectedly while the systems were held. One that lost its lease is
// restarted.
func (s *Set) ended(ctx context.Context) error {
	for _, sys := range s.all() {
		if !endedByItself(sys.process) {
			continue
		}
		err := sys.process.Failure()
		if sys.lostLease() {
			timed, cancel := context.WithTimeout(ctx, installTimeout)
			err = s.resume(timed, sys)
			cancel()
		}
		if err != nil {
			return fmt.Errorf("system %s: %w", sys.definition.Name, err)
		}
	}
	return nil
}

// one installs or changes one system. It calls installed once the system's kinds exist, if that is before it serves.
func (s *Set) one(ctx context.Context, definition clusters.System, installed func()) error {
	built, err := Build(ctx, definition, s.Modules) // before the timeout starts: this may take minutes
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	sys := s.system(definition.Name)
	switch {
	case sys == nil:
		s.Progress("installing system %s", definition)
		sys = s.add(definition, s.Copied[definition.Name])
	case !sys.installed || !reflect.DeepEqual(asCalled(sys.definition), asCalled(definition)):
		s.Progress("changing system %s to %s", sys.definition, definition)
	case definition.Kind() == "manifests":
		return s.installer.deploy(ctx, sys, false)
	default:
		sys.definition = definition
		return s.keepUp(ctx, sys)
	}
	sys.definition, sys.installed = definition, false
	sys.built = built
	if definition.Kind() == "manifests" {
		err = s.installer.deploy(ctx, sys, true)
	} else {
		err = s.launch(ctx, sys, installed)
	}
	sys.installed = err == nil
	return err
}

// Reinstall makes the next Converge install each system that is a program again, even if its definition is unchanged.
func (s *Set) Reinstall() {
	for _, sys := range s.all() {
		if sys.definition.Launched() != nil {
			sys.installed = false
			sys.installation.ApplyAgain()
		}
	}
}

// asCalled is a system without its webhookCalls, which change while its process keeps running.
func asCalled(definition clusters.System) clusters.System {
	definition.WebhookCalls = nil
	return definition
}

// installTimeout is how long a system may take until it serves: far more than it needs on a busy machine.
const installTimeout = 4 * time.Minute
