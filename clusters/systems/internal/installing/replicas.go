package installing

import (
	"context"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// TakeOver makes an installation responsible for everything that was created for a replica that is removed.
func (in *Installation) TakeOver(removed *Installation) {
	for _, r := range removed.Objects {
		in.Objects = objects.Add(in.Objects, r)
	}
	in.predecessors = append(append(in.predecessors, removed.System), removed.predecessors...)
	in.applied = nil // the removed replica may have applied them with other content
}

// Trust makes the webhooks and conversion webhooks that were installed for a system and the other replicas of its
// service trust an authority, where they are called at an address.
func (i *Installer) Trust(ctx context.Context, in *Installation, url string, ca []byte) error {
	for _, one := range append(i.Beside(in.System), in) {
		for _, r := range one.Objects {
			if err := i.Webhooks.Renew(ctx, r, url, url, ca); err != nil {
				return fmt.Errorf("renew the authority of %s: %w", r, err)
			}
		}
	}
	return nil
}

// owns reports whether an object that was created for a system belongs to an installation, or to another replica.
func (i *Installer) owns(in *Installation, system string) bool {
	return slices.ContainsFunc(append(i.Beside(in.System), in), func(one *Installation) bool {
		return one.System == system || slices.Contains(one.predecessors, system)
	})
}

// wanting returns the installation of another replica whose definition has an object; nil if there is none.
func (i *Installer) wanting(in *Installation, r objects.Reference) *Installation {
	for _, other := range i.Beside(in.System) {
		if other.wants(r) {
			return other
		}
	}
	return nil
}

func (in *Installation) wants(r objects.Reference) bool {
	return slices.ContainsFunc(in.wanted, r.Same)
}
