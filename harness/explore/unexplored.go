package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/manifests"
)

// unexplored lists the kinds that a state serves, but that cannot be explored there.
func (e Options) unexplored(found fields.Found, state string) []string {
	var all []string
	for _, kind := range found.Bare {
		if e.wanted(kind) {
			all = append(all, fmt.Sprintf("%s at %s: it was not explored, because the API server has no schema of it",
				kind.ID(), state))
		}
	}
	kinds := slices.Concat(found.Kinds, found.Bare)
	// A wanted kind that is not listed may be one of a version that could not be listed.
	names := map[string]bool{}
	e.noteServed(found, names)
	missing := len(e.neverServed(names)) > 0
	for version, cause := range found.Undiscovered {
		inGroup := func(k *fields.Kind) bool { return k.Group == version.Group && e.wanted(k) }
		if len(e.Kinds) == 0 || missing || slices.ContainsFunc(kinds, inGroup) {
			all = append(all, fmt.Sprintf("%s at %s: its kinds were not explored, because the API server could not "+
				"list them: %v", version, state, cause))
		}
	}
	slices.SortFunc(all, strings.Compare)
	return all
}

// noteServed adds the names of wanted kinds that a state serves.
func (e Options) noteServed(found fields.Found, names map[string]bool) {
	kinds := slices.Concat(found.Kinds, found.Bare)
	for _, name := range e.Kinds {
		if slices.ContainsFunc(kinds, func(k *fields.Kind) bool { return manifests.Means(name, k.GroupKind()) }) {
			names[name] = true
		}
	}
}

// neverServed lists the wanted kinds that no state serves, for example because they are misspelt. served are the names
// of those that a state serves.
func (e Options) neverServed(served map[string]bool) []string {
	var all []string
	for _, name := range e.Kinds {
		if !served[name] {
			all = append(all, fmt.Sprintf("%s: it was not explored, because no state of the path serves a kind of this "+
				"name whose objects can be created and listed", name))
		}
	}
	return all
}
