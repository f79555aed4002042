// Package fault contains the bugs that simulators have on request. A fault can be limited to some namespaces, so that
// many faults can be tried at once on one cluster.
package fault

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Fault is a plausible bug that a simulator has on request.
type Fault struct {
	// Name of the fault.
	Name string `json:"name"`
	// Sentence describes what goes wrong.
	Sentence string `json:"sentence"`
	// Breaks are the requirements that it violates.
	Breaks []string `json:"breaks"`
	// ClusterWide: it affects something that exists once per cluster, such as a CRD or a configuration, so it cannot be
	// limited to namespaces.
	ClusterWide bool `json:"clusterWide,omitempty"`
}

// List is the faults of a simulator, in the order in which they are declared.
type List struct {
	// Prefix of the ids of requirements.
	Prefix string
	all    []Fault
}

// New declares a fault that can be limited to namespaces, and returns its name. Breaks are the requirements without
// their prefix: "02 03".
func (l *List) New(name, breaks, sentence string) string {
	l.all = append(l.all, Fault{Name: name, Sentence: sentence, Breaks: l.IDs(breaks)})
	return name
}

// Wide declares a cluster-wide fault, which cannot be limited to namespaces.
func (l *List) Wide(name, breaks, sentence string) string {
	l.New(name, breaks, sentence)
	l.all[len(l.all)-1].ClusterWide = true
	return name
}

// IDs returns the ids of requirements.
func (l *List) IDs(requirements string) []string {
	ids := strings.Fields(requirements)
	for i := range ids {
		ids[i] = l.Prefix + ids[i]
	}
	return ids
}

// All returns the declared faults.
func (l *List) All() []Fault { return slices.Clone(l.all) }

// Set contains the requested faults of a simulator. The zero value contains none.
type Set struct {
	everywhere map[string]bool
	confined   []confined
}

// confined is a fault in the namespaces whose names match a pattern.
type confined struct{ name, pattern string }

// NewSet returns the requested faults. Each is given as NAME or NAME@NAMESPACES. An unknown fault is an error, and so
// is a cluster-wide one with namespaces.
func NewSet(asked []string, known []Fault) (Set, error) {
	s := Set{everywhere: map[string]bool{}}
	for _, text := range asked {
		name, pattern := clusters.SplitFault(text)
		i := slices.IndexFunc(known, func(f Fault) bool { return f.Name == name })
		switch {
		case i < 0:
			return Set{}, fmt.Errorf("unknown fault %q; known: %s", name, strings.Join(Names(known), ", "))
		case pattern == "":
			s.everywhere[name] = true
		case known[i].ClusterWide:
			return Set{}, fmt.Errorf("fault %s affects the whole cluster, and cannot be limited to namespaces %s", name,
				pattern)
		default:
			s.confined = append(s.confined, confined{name, pattern})
		}
	}
	return s, nil
}

// Has reports whether a fault is active: everywhere, or in the namespace given to In.
func (s Set) Has(name string) bool { return s.everywhere[name] }

// In returns the set for the objects of a namespace.
func (s Set) In(namespace string) Set {
	there := Set{everywhere: maps.Clone(s.everywhere)}
	for _, c := range s.confined {
		if match, err := path.Match(c.pattern, namespace); err == nil && match {
			there.everywhere[c.name] = true
		}
	}
	return there
}

// Only returns a set that contains at most the one fault.
func (s Set) Only(name string) Set {
	return Set{
		everywhere: map[string]bool{name: s.everywhere[name]},
		confined:   slices.DeleteFunc(slices.Clone(s.confined), func(c confined) bool { return c.name != name }),
	}
}

// Empty reports whether there is no fault anywhere.
func (s Set) Empty() bool { return len(s.everywhere)+len(s.confined) == 0 }

// Names returns the names of faults, in the same order.
func Names(list []Fault) []string {
	var names []string
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}
