package clusters

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// ConfigText is the name of the variable for the configuration of the simulator that a system replaces: $(CONFIG). It
// is empty if the scenario does not configure the simulator.
const ConfigText = "CONFIG"

// Configured returns the system as the replacement of a simulator with a configuration. In its command, its environment
// and its files, the configuration replaces $(CONFIG), as YAML. A system without $(CONFIG) would run with another
// configuration than the scenario expects, which is an error. A simulator gets the configuration unless it has one.
func (s System) Configured(config map[string]any) (System, error) {
	if len(config) == 0 {
		return s, nil
	}
	if s.Simulated != nil {
		simulated := *s.Simulated
		if simulated.Config == nil {
			simulated.Config = config
		}
		s.Simulated = &simulated
		return s, nil
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		return s, fmt.Errorf("write the configuration of system %s: %w", s.Name, err)
	}
	value, taken := strings.ReplaceAll(string(text), "$(", "$$("), false
	in := func(text string) string {
		with := replaced(text, ConfigText, value)
		taken = taken || with != text
		return with
	}
	switch {
	case s.Process != nil:
		process := s.Process.settings(in)
		s.Process = &process
	case s.Module != nil:
		module := *s.Module
		module.SystemProcess = module.settings(in)
		s.Module = &module
	}
	s.Versions = nil // its fields are those of its version
	if !taken {
		return s, fmt.Errorf("it configures the simulator of %s, and the definition that replaces the simulator does "+
			"not contain $(%s)", s.Name, ConfigText)
	}
	return s, nil
}

// settings returns the process with another command, environment and other files.
func (p SystemProcess) settings(change func(string) string) SystemProcess {
	p.Command = eachText(p.Command, change)
	p.Env, p.Files = eachValue(p.Env, change), eachValue(p.Files, change)
	return p
}
