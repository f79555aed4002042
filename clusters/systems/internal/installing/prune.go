package installing

import (
	"context"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// prune deletes the objects that were created for a system and are no longer wanted. Objects that another replica wants
// become those of that replica. CRDs stay until the system is removed, with the objects of their kinds: an upgrade or a
// rollback with Helm does not delete the CRDs of a chart either.
func (i *Installer) prune(ctx context.Context, in *Installation) error {
	for _, r := range slices.Backward(slices.Clone(in.Objects)) {
		if in.wants(r) {
			delete(in.kept, r)
			continue
		}
		if other := i.wanting(in, r); other != nil {
			other.Objects = objects.Add(other.Objects, r)
			in.forget(r)
			continue
		}
		if r.Kind == objects.CRDKind {
			in.keep(r)
			continue
		}
		if err := i.Objects.Delete(ctx, r); err != nil {
			return err
		}
		in.forget(r)
		in.pruned = objects.Add(in.pruned, r)
	}
	return nil
}

// forget removes an object from those of a system.
func (in *Installation) forget(r objects.Reference) {
	delete(in.kept, r)
	in.Objects = slices.DeleteFunc(in.Objects, func(known objects.Reference) bool { return known == r })
}

// keep notes a CRD that the system no longer installs, and where its conversion webhook is called.
func (in *Installation) keep(r objects.Reference) {
	if in.kept == nil {
		in.kept = map[objects.Reference]string{}
	}
	if _, known := in.kept[r]; !known {
		in.kept[r] = in.calledAt
	}
}

// forgetDeleted forgets the kept CRDs that a user has deleted: nobody creates them again.
func (i *Installer) forgetDeleted(ctx context.Context, in *Installation) error {
	for r := range in.kept {
		there, err := i.Objects.Exists(ctx, r)
		if err != nil {
			return err
		}
		if !there {
			in.forget(r)
		}
	}
	return nil
}

// trustKept puts the process's new authority and address into the conversion webhooks of the kept CRDs. Otherwise their
// objects could not be read because of a certificate or a port, whatever the process answers.
func (i *Installer) trustKept(ctx context.Context, in *Installation, ca []byte) error {
	if err := i.forgetDeleted(ctx, in); err != nil {
		return err
	}
	for r, from := range in.kept {
		if err := i.Webhooks.Renew(ctx, r, from, in.calledAt, ca); err != nil {
			return fmt.Errorf("renew the authority of %s, which the system no longer installs: %w", r, err)
		}
		in.kept[r] = in.calledAt
	}
	return nil
}
