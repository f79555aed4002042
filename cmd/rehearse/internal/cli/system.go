package cli

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// SystemFrom reads the definition of a system, which must be of a kind, from a file.
func SystemFrom(kind, file string) (clusters.System, error) {
	definition, err := scenarios.LoadSystem(file)
	if err == nil && definition.Kind() != kind {
		err = fmt.Errorf("%s defines a system that is %s", file, definition.Kind())
	}
	return definition, err
}
