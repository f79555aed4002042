package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Problem is a warning: something is doubtful but does not prevent a run.
type Problem struct {
	// Position of the problem.
	Position Position
	// Message describes the problem.
	Message string
	// Strict marks a problem that matters in a suite that states its requirements, but not in a first experiment. rehearse
	// lint reports it only with --strict.
	Strict bool
}

// String returns file:line:column: message.
func (p Problem) String() string { return fmt.Sprintf("%s: %s", p.Position, p.Message) }

// Lint returns the problems of valid scenarios, sorted by file and line.
func Lint(set *Set) []Problem {
	all := slices.Clone(set.notes)
	for _, s := range set.Scenarios {
		all = append(all, lintScenario(s)...)
	}
	all = append(all, unmetIssues(set)...)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column),
			strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all) // the rows of a table have the same problems
}

func lintScenario(s *Scenario) []Problem {
	var all []Problem
	add := func(strict bool, message string) {
		all = append(all, Problem{s.Position, s.Metadata.Name + ": " + message, strict})
	}
	if s.Spec.Description == "" {
		add(true, "no description: state in one sentence what must hold")
	}
	if len(s.Spec.Covers) == 0 {
		add(true, "covers no requirement")
	}
	if s.Spec.Cluster.Version == "" {
		add(false, "names no version of Kubernetes to start with")
	}
	if s.Metadata.Labels["system"] == "" {
		add(false, "has no label \"system\", by which reports group it")
	}
	return all
}

// unmetIssues lists the versions of known issues that no state on the scenario's path has. In a table, one row with
// such a state is enough.
func unmetIssues(set *Set) []Problem {
	type issue struct {
		document      Position
		name, version string
	}
	met := map[issue]bool{}
	for _, s := range set.Scenarios {
		look := func(version string, has func(clusters.State) bool) {
			i := issue{s.Position, s.Metadata.Name, version}
			met[i] = met[i] || slices.ContainsFunc(s.Path(), has)
		}
		for _, k := range s.Spec.Known {
			for _, version := range k.Versions {
				look("version "+version, func(state clusters.State) bool { return mayBe(state.Version, version) })
			}
			for _, name := range clusters.SortedKeys(k.Systems) {
				for _, version := range k.Systems[name] {
					look(name+" "+version, func(state clusters.State) bool {
						system, there := state.System(name)
						return there && clusters.IsSystemVersion(system.Version, version)
					})
				}
			}
		}
	}
	var all []Problem
	for i, found := range met {
		if !found {
			all = append(all, Problem{Position: i.document, Message: fmt.Sprintf("%s: the known issue of %s "+
				"never applies: no state of the path has that version", i.name, i.version)})
		}
	}
	return all
}

// mayBe reports whether a state's version may be the version that a known issue names. A version without a patch, such
// as 1.34, may be any patch of it.
func mayBe(state, known string) bool {
	s, err := clusters.ParseVersion(state)
	if err != nil {
		return true // a state without a version may have any version
	}
	k, err := clusters.ParseVersion(known)
	if err != nil || s.MinorString() != k.MinorString() {
		return false
	}
	return !s.Exact() || !k.Exact() || s.Compare(k) == 0
}

// notes returns problems that can no longer be seen in the loaded scenarios: columns and outputs that are never used.
func (d *document) notes() []Problem {
	var all []Problem
	for at, c := range d.columns {
		if !c.Used && c.Key.Text != "name" {
			all = append(all, Problem{Position: at, Message: fmt.Sprintf("the column %q of the table is never used",
				c.Key.Text)})
		}
	}
	if d.used[""] { // an expression uses outputs as a whole
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(d.outputs)) {
		if !d.used[name] {
			all = append(all, Problem{Position: d.outputs[name], Message: fmt.Sprintf("the output %q is never used", name)})
		}
	}
	return all
}
