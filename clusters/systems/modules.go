package systems

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Modules builds programs of Go modules.
type Modules interface {
	// BuildModule returns a program, and builds it first where it was not built yet.
	BuildModule(ctx context.Context, m clusters.ModuleProgram) (clusters.BuiltModule, error)
	// CachedModule is a program that was built before; false where there is none.
	CachedModule(m clusters.ModuleProgram) (clusters.BuiltModule, bool)
}

// Build builds a system that is a program of a Go module; of any other there is nothing to be built.
func Build(ctx context.Context, definition clusters.System, modules Modules) (clusters.BuiltModule, error) {
	program, ok := definition.Program()
	switch {
	case !ok:
		return clusters.BuiltModule{}, nil
	case modules == nil:
		return clusters.BuiltModule{}, errors.New("programs of Go modules are not supported here")
	}
	return modules.BuildModule(ctx, program)
}

// cached is what was built of a system that is a module; false where the system is none, or was not built yet.
func cached(definition clusters.System, modules Modules) (clusters.BuiltModule, bool) {
	program, ok := definition.Program()
	if !ok || modules == nil {
		return clusters.BuiltModule{}, false
	}
	return modules.CachedModule(program)
}
