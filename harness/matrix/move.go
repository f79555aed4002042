package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// own are the versions in a scenario itself.
type own struct {
	// base is the Kubernetes version of its first state. all are the Kubernetes versions of its path, as written.
	base clusters.Version
	all  []string
	// systems are the versions of the system on its path, ascending. first is the index of the one it begins with.
	systems []string
	first   int
	// there says that the scenario installs the system.
	there bool
}

func versionsOf(s *scenarios.Scenario, system string) own {
	var o own
	o.base, _ = clusters.ParseVersion(s.Spec.Cluster.Version) // loading a scenario checks it
	begin := ""
	for _, state := range s.Path() {
		if !slices.Contains(o.all, state.Version) {
			o.all = append(o.all, state.Version)
		}
		for _, one := range state.Systems {
			if one.Name != system {
				continue
			}
			if !o.there {
				begin, o.there = one.Version, true
			}
			if !slices.Contains(o.systems, one.Version) {
				o.systems = append(o.systems, one.Version)
			}
		}
	}
	if !slices.ContainsFunc(o.systems, func(v string) bool { return !semver.IsValid(v) }) {
		slices.SortFunc(o.systems, semver.Compare)
	}
	o.first = slices.Index(o.systems, begin)
	return o
}

// kubernetes is how many minor versions a version of the scenario's path is above that of its first state.
func (o own) kubernetes(text string) (int, bool) {
	v, err := clusters.ParseVersion(text)
	return v.Minor - o.base.Minor, err == nil && slices.Contains(o.all, text)
}

// system is how many places a version of the system is above the scenario's first one, among the scenario's versions.
func (o own) system(text string) (int, bool) {
	at := slices.Index(o.systems, text)
	return at - o.first, at >= 0 && text != ""
}

// move adapts a scenario to a cell. All its Kubernetes versions change by the same number of minor versions. Its
// versions of the system are replaced by those at the corresponding places of the matrix.
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
	if !m.own.there {
		return nil, fmt.Errorf("it has no system %s", m.axes.System)
	}
	moved := *m.from
	var err error
	if moved.Spec.Cluster, err = m.state(moved.Spec.Cluster); err != nil {
		return nil, err
	}
	if moved.Case, err = m.values(moved.Case); err != nil {
		return nil, err
	}
	there := hasSystem(moved.Spec.Cluster.Systems, m.axes.System)
	moved.Spec.Steps = slices.Clone(moved.Spec.Steps)
	for i := range moved.Spec.Steps {
		step := &moved.Spec.Steps[i]
		if step.Case, err = m.values(step.Case); err != nil {
			return nil, err
		}
		if step.Transition == nil {
			continue
		}
		transition := *step.Transition
		if transition.Change, there, err = m.change(transition.Change, there); err != nil {
			return nil, err
		}
		step.Transition = &transition
	}
	if m.axes.Up && len(moved.Path()) == 1 {
		m.climb(&moved)
	}
	for _, state := range moved.Path() {
		s, there := state.System(m.axes.System)
		if there && len(s.Versions) > 0 && !clusters.ValidSystemVersion(s.Version) {
			return nil, fmt.Errorf("the definition of system %s has versions, and %q cannot be compared with them", s.Name,
				s.Version)
		}
	}
	return &moved, nil
}

func hasSystem(list []clusters.System, name string) bool {
	return slices.ContainsFunc(list, func(s clusters.System) bool { return s.Name == name })
}

func (m move) state(state clusters.State) (clusters.State, error) {
	if state.Emulates() {
		return state, errEmulates
	}
	if len(state.OwnVersions()) > 0 {
		return state, errOwnVersion
	}
	var err error
	if state.Version, err = m.kubernetesFor(state.Version); err != nil {
		return state, err
	}
	state.Systems = slices.Clone(state.Systems)
	for i, system := range state.Systems {
		if system.Name == m.axes.System {
			if state.Systems[i], err = m.installed(system); err != nil {
				return state, err
			}
		}
	}
	return state, nil
}

// Errors of scenarios that a matrix does not support.
var (
	errEmulates   = errors.New("it emulates a version of Kubernetes, which a matrix does not support")
	errOwnVersion = errors.New("one of its components has a version of its own, which a matrix does not support")
)

// installed is the cell's definition of the system where the scenario installs it.
func (m move) installed(system clusters.System) (clusters.System, error) {
	version, err := m.versionFor(system.Version)
	if err == nil && m.axes.Definition != nil {
		calls := system.WebhookCalls
		system = *m.axes.Definition
		system.Name, system.WebhookCalls = m.axes.System, cmp.Or(calls, system.WebhookCalls)
	}
	return system.At(version), err
}

// change is the cell's version of a transition. there says whether the system is installed before it. The result
// reports whether it is installed after it.
func (m move) change(c clusters.Change, there bool) (clusters.Change, bool, error) {
	if c.EmulatedVersion != "" || c.MinCompatibilityVersion != "" || c.EmulationForwardCompatible != nil {
		return c, there, errEmulates
	}
	for _, component := range c.Components {
		if component != nil && component.Version != "" {
			return c, there, errOwnVersion
		}
	}
	var err error
	if c.Version != "" {
		if c.Version, err = m.kubernetesFor(c.Version); err != nil {
			return c, there, err
		}
	}
	c.Systems = slices.Clone(c.Systems)
	for i, change := range c.Systems {
		if change.Name != m.axes.System {
			continue
		}
		was := there
		there = !change.Remove
		switch {
		case change.Remove:
		case !was:
			c.Systems[i].System, err = m.installed(change.System)
		case m.axes.Definition != nil && change.Kind() != "":
			err = fmt.Errorf("it changes more of system %s than the version, which is not possible with another definition",
				m.axes.System)
		case change.Version != "":
			c.Systems[i].Version, err = m.versionFor(change.Version)
		}
		if err != nil {
			return c, there, err
		}
	}
	return c, there, nil
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

// values are those of a scenario's case, with the versions of the cell. The scenario's expressions may use them.
func (m move) values(values map[string]any) (map[string]any, error) {
	moved := maps.Clone(values)
	for column, value := range moved {
		text, isText := value.(string)
		if !isText {
			continue
		}
		var err error
		if _, is := m.own.kubernetes(text); is {
			moved[column], err = m.kubernetesFor(text)
		} else if _, is := m.own.system(text); is {
			moved[column], err = m.versionFor(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return moved, nil
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
