package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// SystemFlags are the systems that run beside the objects, and what they are upgraded to.
type SystemFlags struct {
	Systems, Upgrades []string
	// Known are the suites whose simulators can be among the systems.
	Known builtin.Suites
}

// AddTo adds the flags to a command.
func (s *SystemFlags) AddTo(command *cobra.Command) {
	set := command.Flags()
	set.StringArrayVar(&s.Systems, "system", nil, "a system that runs beside the objects: "+cli.LocalDefinitions+
		", a YAML file that defines it; may be repeated")
	set.StringArrayVar(&s.Upgrades, "upgrade", nil, "the new definition of a system, in the form of --system: it "+
		"is upgraded after Kubernetes, and rolled back before Kubernetes; may be repeated")
}

// Any reports whether the flags name any systems.
func (s *SystemFlags) Any() bool { return len(s.Systems)+len(s.Upgrades) > 0 }

// Definitions returns the contents of the files that the flags name, by the flags without the paths.
func (s *SystemFlags) Definitions() (map[string]string, error) {
	contents, err1 := cli.DefinitionFiles(s.Systems)
	upgrades, err2 := cli.DefinitionFiles(s.Upgrades)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	for name, text := range upgrades {
		contents["--upgrade "+name] = text
	}
	return contents, nil
}

// Read returns the systems, those that are upgraded in the end, and the options to run them.
func (s *SystemFlags) Read(progress clusters.Progress) (first, upgraded []clusters.System, o systems.Options, _ error) {
	first, err1 := cli.DefinedSystems("--system", s.Systems)
	upgraded, err2 := cli.DefinedSystems("--upgrade", s.Upgrades)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, o, err
	}
	for _, system := range upgraded {
		if !slices.ContainsFunc(first, func(s clusters.System) bool { return s.Name == system.Name }) {
			return nil, nil, o, fmt.Errorf("--upgrade %s: there is no system to upgrade; give the old definition "+
				"with --system %s=process:FILE (or module:FILE)", system.Name, system.Name)
		}
	}
	options, err := PlanOptions(s.Known, progress)
	o.Simulators, o.Modules = options.Simulators, options.Modules
	return first, upgraded, o, err
}
