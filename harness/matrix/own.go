package matrix

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// own are the versions in a scenario itself.
type own struct {
	// base is the Kubernetes version of its first state. all are the Kubernetes versions of its path, as written.
	base clusters.Version
	all  []string
	// programs identify the programs of the system. names are the names of the systems that run them: the system itself,
	// and its replicas. others are the names of all other systems.
	programs, names, others []string
	// systems are the versions of these systems on its path, ascending. first is the index of the version with which the
	// system itself begins.
	systems []string
	first   int
	// there says that the scenario installs the system.
	there bool
}

func versionsOf(s *scenarios.Scenario, system string) own {
	var o own
	o.base, _ = clusters.ParseVersion(s.Spec.Cluster.Version) // loading a scenario checks it
	o.programs = programsOf(s, system)
	begin := ""
	for _, state := range s.Path() {
		add(&o.all, state.Version)
		for _, one := range state.Systems {
			if one.Name != system && !slices.Contains(o.programs, programOf(one)) {
				add(&o.others, one.Name)
				continue
			}
			if one.Name == system && !o.there {
				begin, o.there = one.Version, true
			}
			add(&o.names, one.Name)
			add(&o.systems, one.Version)
		}
	}
	if !slices.ContainsFunc(o.systems, func(v string) bool { return !clusters.ValidSystemVersion(v) }) {
		slices.SortFunc(o.systems, clusters.CompareSystemVersions)
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

// relative is a value of a table in which each version is its distance from that of the first state.
func (o own) relative(value any) any {
	switch value := value.(type) {
	case string:
		if n, is := o.kubernetes(value); is {
			return map[string]int{"Kubernetes": n}
		}
		if n, is := o.system(value); is {
			return map[string]int{"system": n}
		}
	case map[string]any:
		all := map[string]any{}
		for key := range value {
			all[key] = o.relative(value[key])
		}
		return all
	case []any:
		all := make([]any, len(value))
		for i := range value {
			all[i] = o.relative(value[i])
		}
		return all
	}
	return value
}

// Replicas returns the names of the systems of a scenario whose versions a matrix of the system changes: the system
// itself, and its replicas. It returns none if the scenario does not have the system.
func Replicas(s *scenarios.Scenario, system string) []string {
	if own := versionsOf(s, system); own.there {
		return own.names
	}
	return nil
}

// programsOf returns the programs of a system on a scenario's path.
func programsOf(s *scenarios.Scenario, system string) []string {
	var all []string
	for _, state := range s.Path() {
		if one, there := state.System(system); there && programOf(one) != "" {
			add(&all, programOf(one))
		}
	}
	return all
}

// programOf identifies the program of a system apart from its version: by its module, all of whose packages have one
// version, or by a command that contains the version. It is "" for other systems.
func programOf(s clusters.System) string {
	switch {
	case s.Module != nil:
		return s.Module.Path
	case s.Process != nil && len(s.Process.Command) > 0 && strings.Contains(s.Process.Command[0], "$(VERSION)"):
		return s.Process.Command[0]
	}
	return ""
}

// add appends a text that is not in the list yet.
func add(list *[]string, text string) {
	if !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
}
