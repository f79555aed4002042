package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// move adapts a scenario to a cell. All its Kubernetes versions change by the same number of minor versions. Its
// versions of the system and of its replicas are replaced by those at the corresponding places of the matrix.
type move struct {
	axes Axes
	from *scenarios.Scenario
	own  own
	// version and kubernetes are the cell's indices on the axes.
	version, kubernetes int
}

func newMove(axes Axes, from *scenarios.Scenario, version, kubernetes int) move {
	return move{axes: axes, from: from, own: versionsOf(from, axes.System), version: version, kubernetes: kubernetes}
}

// scenario is the one of the cell. An error says why the cell has none.
func (m move) scenario() (*scenarios.Scenario, error) {
	if err := m.possible(); err != nil {
		return nil, err
	}
	moved, err := m.from.Refilled(m.text, m.adapt)
	if mistake := (*scenarios.Error)(nil); errors.As(err, &mistake) {
		return nil, fmt.Errorf("with the versions of the cell in its table it is not valid: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if moved, err = m.systems(moved); err != nil {
		return nil, err
	}
	if m.axes.Up && len(moved.Path()) == 1 {
		m.climb(moved)
	}
	for _, state := range moved.Path() {
		for _, s := range state.Systems {
			if m.moves(s.Name) && len(s.Versions) > 0 && !clusters.ValidSystemVersion(s.Version) {
				return nil, fmt.Errorf("the definition of system %s has versions, and %q cannot be compared with them", s.Name,
					s.Version)
			}
		}
	}
	return moved, nil
}

// possible returns why a scenario has no cell at all, if it has none.
func (m move) possible() error {
	if !m.own.there {
		if len(m.own.others) == 0 {
			return fmt.Errorf("it has no system %s", m.axes.System)
		}
		return fmt.Errorf("it has no system %s; its systems: %s", m.axes.System, strings.Join(m.own.others, ", "))
	}
	replicas := slices.DeleteFunc(slices.Clone(m.own.names), func(name string) bool { return name == m.axes.System })
	if definition := m.axes.Definition; definition != nil && len(replicas) > 0 &&
		!slices.Contains(m.own.programs, programOf(*definition)) {
		return fmt.Errorf("the definition of the matrix replaces the program of %s by another one, but not that of its "+
			"replicas: %s", m.axes.System, strings.Join(replicas, ", "))
	}
	return nil
}

// moves reports whether a system has the versions of the matrix.
func (m move) moves(system string) bool { return slices.Contains(m.own.names, system) }

// text is the cell's version for a text in a table that is one of the scenario's versions. Other texts stay.
func (m move) text(text string) (string, error) {
	if _, is := m.own.kubernetes(text); is {
		return m.kubernetesFor(text)
	}
	if _, is := m.own.system(text); is {
		return m.versionFor(text)
	}
	return text, nil
}

// Errors of scenarios that a matrix does not support.
var (
	errEmulates   = errors.New("it emulates a version of Kubernetes, which a matrix does not support")
	errOwnVersion = errors.New("one of its components has a version of its own, which a matrix does not support")
	errOthers     = errors.New("its steps or systems depend on versions in its table, which a matrix does not support")
)

// adapt gives a scenario, which has the values of the cell in its table, the cell's versions of Kubernetes. They follow
// from the original, because a version may be filled in from the table or not. Versions of systems are those of the
// original: other systems keep them, and planning checks those of the cell.
func (m move) adapt(s *scenarios.Scenario) error {
	if len(s.Spec.Steps) != len(m.from.Spec.Steps) {
		return errOthers
	}
	if err := m.state(&s.Spec.Cluster, m.from.Spec.Cluster); err != nil {
		return err
	}
	for i := range s.Spec.Steps {
		was, now := m.from.Spec.Steps[i].Transition, s.Spec.Steps[i].Transition
		if (was == nil) != (now == nil) {
			return errOthers
		}
		if was == nil {
			continue
		}
		if err := m.change(&now.Change, was.Change); err != nil {
			return err
		}
	}
	return nil
}

// state adapts the first state. was is that of the original.
func (m move) state(state *clusters.State, was clusters.State) error {
	if was.Emulates() {
		return errEmulates
	}
	if len(was.OwnVersions()) > 0 {
		return errOwnVersion
	}
	if len(state.Systems) != len(was.Systems) {
		return errOthers
	}
	for i, system := range was.Systems {
		if state.Systems[i].Name != system.Name {
			return errOthers
		}
		state.Systems[i].Version = system.Version
	}
	var err error
	state.Version, err = m.kubernetesFor(was.Version)
	return err
}

// change adapts a transition. was is that of the original.
func (m move) change(c *clusters.Change, was clusters.Change) error {
	if was.EmulatedVersion != "" || was.MinCompatibilityVersion != "" || was.EmulationForwardCompatible != nil {
		return errEmulates
	}
	for _, component := range was.Components {
		if component != nil && component.Version != "" {
			return errOwnVersion
		}
	}
	if len(c.Systems) != len(was.Systems) {
		return errOthers
	}
	for i, system := range was.Systems {
		if c.Systems[i].Name != system.Name {
			return errOthers
		}
		c.Systems[i].Version = system.Version
	}
	var err error
	if was.Version != "" {
		c.Version, err = m.kubernetesFor(was.Version)
	}
	return err
}

// systems returns the scenario with the cell's versions of the system, and with the definition of the matrix.
func (m move) systems(s *scenarios.Scenario) (*scenarios.Scenario, error) {
	var errs []error
	there := map[string]bool{}
	originals := systemsOf(m.from)
	moved := s.WithSystems(func(_ *scenarios.Step, change clusters.SystemChange) clusters.System {
		original := originals[0]
		originals = originals[1:]
		system, err := change.System, error(nil)
		if !m.moves(change.Name) {
			return system
		}
		was, replaced := there[change.Name], m.axes.Definition != nil && change.Name == m.axes.System
		there[change.Name] = !change.Remove
		switch {
		case change.Remove:
		case !was:
			system, err = m.installed(system, original, replaced)
		case replaced && change.Kind() != "":
			err = fmt.Errorf("it changes more of system %s than the version, which is not possible with another definition",
				m.axes.System)
		case change.Version != "":
			system.Version, err = m.versionFor(change.Version)
		}
		if err != nil {
			errs = append(errs, err)
		}
		return system
	})
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return moved, nil
}

// systemsOf returns the systems of a scenario in the order of WithSystems.
func systemsOf(s *scenarios.Scenario) (all []clusters.System) {
	s.WithSystems(func(_ *scenarios.Step, change clusters.SystemChange) clusters.System {
		all = append(all, change.System)
		return change.System
	})
	return all
}

// installed is the cell's definition of a system where the scenario installs it. original is the scenario's own
// definition at this place. replaced says that the definition is that of the matrix.
func (m move) installed(system, original clusters.System, replaced bool) (clusters.System, error) {
	version, err := m.versionFor(system.Version)
	fromTable := !replaced && !reflect.DeepEqual(system, original)
	if err == nil && replaced {
		calls := system.WebhookCalls
		system = *m.axes.Definition
		system.Name, system.WebhookCalls = m.axes.System, cmp.Or(calls, system.WebhookCalls)
	}
	if err == nil && version != system.Version && !fromTable && !dependsOnVersion(system) {
		err = fmt.Errorf("the definition of system %s is the same at each version: let it contain $(VERSION), or list what "+
			"differs as its versions", system.Name)
	}
	return system.At(version), err
}

// dependsOnVersion reports whether the definition gives another system at another version.
func dependsOnVersion(s clusters.System) bool {
	if s.Module != nil || len(s.Versions) > 0 {
		return true
	}
	for _, text := range s.Texts {
		if strings.Contains(text, "$(VERSION)") {
			return true
		}
	}
	return false
}

// kubernetesFor is the cell's version of Kubernetes for one of the scenario's.
func (m move) kubernetesFor(text string) (string, error) {
	if text == m.from.Spec.Cluster.Version {
		return m.axes.Kubernetes[m.kubernetes], nil
	}
	is, err := clusters.ParseVersion(text)
	if err != nil {
		return "", err
	}
	cell, err := clusters.ParseVersion(m.axes.Kubernetes[m.kubernetes])
	if err != nil {
		return "", err
	}
	if is.Minor == m.own.base.Minor {
		return "", fmt.Errorf("it uses two patch releases of one minor version, %s and %s, which a matrix does not support",
			m.from.Spec.Cluster.Version, text)
	}
	wanted := cell.Minor + is.Minor - m.own.base.Minor
	for _, version := range m.axes.Kubernetes {
		if v, err := clusters.ParseVersion(version); err == nil && v.Minor == wanted {
			return version, nil
		}
	}
	return "", fmt.Errorf("it needs Kubernetes %d.%d, which is not in the matrix", cell.Major, wanted)
}

// versionFor is the cell's version of the system for one of the scenario's.
func (m move) versionFor(text string) (string, error) {
	at := slices.Index(m.own.systems, text)
	if at < 0 {
		return "", fmt.Errorf("it names version %q of %s, but none of its states has that version", text, m.axes.System)
	}
	by := at - m.own.first
	switch to := m.version + by; {
	case to >= len(m.axes.Versions):
		return "", fmt.Errorf("it needs a newer version of %s than %s, and the matrix has none", m.axes.System,
			m.axes.Versions[m.version])
	case to < 0:
		return "", fmt.Errorf("it needs an older version of %s than %s, and the matrix has none", m.axes.System,
			m.axes.Versions[m.version])
	default:
		return m.axes.Versions[to], nil
	}
}

// climb prepends upgrades to a scenario without transitions: from the first version of Kubernetes to the cell's.
func (m move) climb(s *scenarios.Scenario) {
	s.Spec.Cluster.Version = m.axes.Kubernetes[0]
	var up []scenarios.Step
	for _, version := range m.axes.Kubernetes[1 : m.kubernetes+1] {
		up = append(up, scenarios.Step{
			Name: "Kubernetes " + version, Position: s.ClusterPosition,
			Transition: &scenarios.Transition{Change: clusters.Change{Version: version}},
		})
	}
	s.Spec.Steps = append(up, s.Spec.Steps...)
}
