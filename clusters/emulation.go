package clusters

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The flags of components for emulation.
const (
	EmulatedVersionFlag         = "emulated-version"
	MinCompatibilityVersionFlag = "min-compatibility-version"

	forwardCompatibleFlag              = "emulation-forward-compatible"
	runtimeConfigForwardCompatibleFlag = "runtime-config-emulation-forward-compatible"
)

// What programs can emulate: at most three minor versions back, and nothing before 1.31.
const (
	EmulatedMinors      = 3
	OldestEmulatedMinor = 31
)

// Programs show in a metric what they emulate since 1.34, and have --min-compatibility-version since 1.35.
const (
	firstProven           = 34
	firstMinCompatibility = 35
)

// Emulated returns the version whose gates and APIs the state's programs have: the emulated one, or their own.
func (s State) Emulated() string {
	if s.EmulatedVersion != "" {
		return s.EmulatedVersion
	}
	return s.Version
}

// Emulates reports whether the state changes the default versions of its programs.
func (s State) Emulates() bool {
	return s.EmulatedVersion != "" || s.MinCompatibilityVersion != "" || s.EmulationForwardCompatible
}

// Flags returns the flags of one component, in addition to those of its provider.
func (s State) Flags(c Component) map[string]string {
	flags := map[string]string{}
	if slices.Contains(ControlPlane(), c.Binary()) {
		if s.EmulatedVersion != "" {
			flags[EmulatedVersionFlag] = s.EmulatedVersion
		}
		if s.MinCompatibilityVersion != "" {
			flags[MinCompatibilityVersionFlag] = s.MinCompatibilityVersion
		}
	}
	if s.EmulationForwardCompatible && c == APIServer {
		flags[forwardCompatibleFlag], flags[runtimeConfigForwardCompatibleFlag] = "true", "true"
	}
	maps.Copy(flags, s.Components[c].Flags)
	return flags
}

// CheckEmulation returns an error if programs of the state's version do not support its emulation settings.
func (s State) CheckEmulation() error {
	if s.EmulatedVersion == "" && s.EmulationForwardCompatible {
		return errors.New("emulationForwardCompatible: the state emulates no version; give it an emulatedVersion older " +
			"than its version")
	}
	if !s.Emulates() {
		return nil
	}
	binary, err := ParseVersion(s.Version)
	if err != nil {
		return err
	}
	if binary.Minor < firstProven {
		return fmt.Errorf("emulatedVersion: Kubernetes %s does not show by a metric what it emulates; 1.%d and newer do",
			binary, firstProven)
	}
	emulated, err := ParseVersion(s.Emulated())
	if err != nil {
		return fmt.Errorf("emulatedVersion: %w", err)
	}
	oldest := Version{Major: binary.Major, Minor: max(binary.Minor-EmulatedMinors, OldestEmulatedMinor), Patch: -1}
	newest := Version{Major: binary.Major, Minor: binary.Minor, Patch: -1}
	between := func(name string, v Version) error {
		minor := Version{Major: v.Major, Minor: v.Minor, Patch: -1}
		if minor.Compare(oldest) < 0 || minor.Compare(newest) > 0 {
			return fmt.Errorf("%s: Kubernetes %s takes %s to %s, not %s", name, binary, oldest, newest, minor)
		}
		return nil
	}
	errs := []error{between("emulatedVersion", emulated)}
	if s.MinCompatibilityVersion != "" {
		compatible, err := ParseVersion(s.MinCompatibilityVersion)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("minCompatibilityVersion: %w", err))
		case binary.Minor < firstMinCompatibility:
			errs = append(errs, fmt.Errorf("minCompatibilityVersion: Kubernetes %s has no such flag; from 1.%d on it does",
				binary,
				firstMinCompatibility))
		case compatible.Minor > emulated.Minor:
			errs = append(errs, fmt.Errorf("minCompatibilityVersion %s is newer than the emulated version %s", compatible,
				emulated.MinorString()))
		default:
			errs = append(errs, between("minCompatibilityVersion", compatible))
		}
	}
	return errors.Join(errs...)
}

// emulating returns the state with the emulation settings of a change. A new emulated version resets the
// compatibility to its default, and emulating the program's own version ends the emulation.
func (s State) emulating(c Change) State {
	if c.EmulatedVersion != "" {
		s.EmulatedVersion, s.MinCompatibilityVersion = c.EmulatedVersion, ""
	}
	own, err1 := ParseVersion(s.Version)
	emulated, err2 := ParseVersion(s.EmulatedVersion)
	if err1 == nil && err2 == nil && own.MinorString() == emulated.MinorString() {
		s.EmulatedVersion, s.MinCompatibilityVersion, s.EmulationForwardCompatible = "", "", false
	}
	if c.MinCompatibilityVersion != "" {
		s.MinCompatibilityVersion = c.MinCompatibilityVersion
	}
	if c.EmulationForwardCompatible != nil {
		s.EmulationForwardCompatible = *c.EmulationForwardCompatible
	}
	return s
}
