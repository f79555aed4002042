package installing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// newKinds tells a cluster's controllers about the new kinds of systems. That takes a second. To save time, it happens
// while the last system starts, as soon as all kinds exist.
type newKinds struct {
	*Installer
	known []objects.Reference
	begun chan error
}

// Announced runs an action, and then tells the cluster's controllers about the kinds that the action has added. The
// action may call allThere as soon as all kinds exist.
func (i *Installer) Announced(ctx context.Context, do func(allThere func()) error) error {
	if i.Controllers == nil {
		return do(func() {})
	}
	known, _, err := i.Objects.Stock(ctx, "")
	if err != nil {
		return err
	}
	kinds := &newKinds{Installer: i, known: known}
	if err := do(func() { kinds.begin(ctx) }); err != nil {
		return errors.Join(err, kinds.end())
	}
	if err := kinds.end(); err != nil {
		return err
	}
	return kinds.tell(ctx)
}

func (k *newKinds) begin(ctx context.Context) {
	if k.begun == nil {
		k.begun = make(chan error, 1)
		go func() { k.begun <- k.tell(ctx) }()
	}
}

func (k *newKinds) end() error {
	if k.begun == nil {
		return nil
	}
	return <-k.begun
}

// tell tells the controllers about kinds that did not exist the last time.
func (k *newKinds) tell(ctx context.Context) error {
	now, _, err := k.Objects.Stock(ctx, "")
	if err != nil {
		return err
	}
	before := k.known
	k.known = now
	if !slices.ContainsFunc(now,
		func(r objects.Reference) bool { return r.Kind != objects.NamespaceKind && !slices.Contains(before, r) }) {
		return nil
	}
	if err := k.Controllers.Rediscover(ctx); err != nil {
		return fmt.Errorf("tell the controllers about new kinds: %w", err)
	}
	return nil
}
