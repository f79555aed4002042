package cli

import (
	"context"
	"sync"
)

type plannedKey struct{}

// WithPlanned returns a context for a command. do is called once: when the report folder has the planned result, in
// which nothing has run yet.
func WithPlanned(ctx context.Context, do func() error) context.Context {
	return context.WithValue(ctx, plannedKey{}, sync.OnceValue(do))
}

// Planned is called by a command when its report folder has the planned result, and maybe again later.
func Planned(ctx context.Context) error {
	if do, is := ctx.Value(plannedKey{}).(func() error); is {
		return do()
	}
	return nil
}
