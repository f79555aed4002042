package systems

import (
	"context"
	"fmt"
	"slices"
)

// untouched returns an error if the first start of a system would change, or its removal would delete, what another
// owner has in a borrowed cluster: the API groups of a simulator, and webhooks that are called at the same address.
func (s *Set) untouched(ctx context.Context, sys *system) error {
	if !s.Borrowed || sys.process != nil || len(s.replicasBeside(sys)) > 0 {
		return nil
	}
	var managers []string
	for name := range s.Simulators {
		managers = append(managers, managerOf(name))
	}
	if definition := sys.definition; definition.Simulated != nil {
		foreign, err := s.api.Foreign(ctx, s.Simulators[definition.Simulator()].Groups, managers)
		if err != nil {
			return err
		}
		if len(foreign) > 0 {
			return fmt.Errorf("the cluster has a %s already, which the simulator would overwrite; remove the other "+
				"installation first, or test it instead (see --system)", foreign[0])
		}
	}
	for _, address := range []string{sys.place.URL(), sys.place.CalledAt()} {
		hooks, err := s.webhooks.At(ctx, address)
		if err != nil {
			return err
		}
		for _, h := range hooks {
			owner, err := s.api.Owner(ctx, h.Configuration)
			ours := slices.ContainsFunc(h.Managers, func(name string) bool { return slices.Contains(managers, name) })
			if err != nil {
				return err
			}
			if owner != nil && owner.System == "" && !ours {
				return fmt.Errorf("%s is called at %s, where the system would run; delete the configuration, which a killed run "+
					"may have left, or give the system another port", h, address)
			}
		}
	}
	return nil
}
