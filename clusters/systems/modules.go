package systems

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Modules builds programs of Go modules.
type Modules interface {
	// BuildModule returns a program, and builds it if necessary.
	BuildModule(ctx context.Context, m clusters.ModuleProgram) (clusters.BuiltModule, error)
	// CachedModule returns a program that was built before; false if there is none.
	CachedModule(m clusters.ModuleProgram) (clusters.BuiltModule, bool)
}

// Build builds a system that is a program of a Go module. It does nothing for other systems.
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

// cached returns the built program of a module system. It is empty if the system is not a module, or was not built yet.
func cached(definition clusters.System, modules Modules) clusters.BuiltModule {
	program, ok := definition.Program()
	if !ok || modules == nil {
		return clusters.BuiltModule{}
	}
	built, ok := modules.CachedModule(program)
	if !ok {
		return clusters.BuiltModule{}
	}
	return built
}
