package installing

import (
	"context"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// TakeStock records the objects that a simulator has created: those that it has applied and that did not exist before.
func (i *Installer) TakeStock(ctx context.Context, in *Installation, manager string,
	before []objects.Reference,
) error {
	_, own, err := i.Objects.Stock(ctx, manager)
	if err != nil {
		return err
	}
	for _, object := range own {
		if !slices.Contains(before, object) {
			in.Objects = objects.Add(in.Objects, object)
		}
	}
	return nil
}

// DeleteStale deletes the configurations of webhooks at an address that are from an earlier start of the process.
func (i *Installer) DeleteStale(ctx context.Context, url string, ca []byte) error {
	stale, err := i.Webhooks.Stale(ctx, url, ca)
	return errors.Join(err, i.Objects.DeleteAll(ctx, stale))
}
