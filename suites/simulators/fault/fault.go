// Package fault contains the bugs that simulators have on request: everywhere or only in some namespaces, so that many
// can be tried side by side on one cluster.
package fault

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Fault is a plausible bug that a simulator can be told to have.
type Fault struct {
	// Name by which it is asked for.
	Name string `json:"name"`
	// Sentence says what goes wrong.
	Sentence string `json:"sentence"`
	// Breaks are the requirements that do not hold with it.
	Breaks []string `json:"breaks"`
	// ClusterWide: it is in what there is once for the whole cluster, as a CRD or a configuration, and cannot be confined
	// to namespaces.
	ClusterWide bool `json:"clusterWide,omitempty"`
}

// New is a fault that can be confined to namespaces.
func New(name, sentence string, breaks []string) Fault {
	return Fault{Name: name, Sentence: sentence, Breaks: breaks}
}

// Wide is a fault that cannot be confined.
func Wide(f Fault) Fault {
	f.ClusterWide = true
	return f
}

// Set is the faults that a simulator was asked to have. The zero value has none.
type Set struct {
	everywhere map[string]bool
	confined   []confined
}

// confined is a fault in the namespaces whose names match a pattern.
type confined struct{ name, pattern string }

// NewSet returns the faults that were asked for, NAME or NAME@NAMESPACES, of those that are known. A fault that is not
// known, or cannot be confined and is to be, is an error.
func NewSet(asked []string, known []Fault) (Set, error) {
	s := Set{everywhere: map[string]bool{}}
	for _, text := range asked {
		name, pattern := clusters.SplitFault(text)
		i := slices.IndexFunc(known, func(f Fault) bool { return f.Name == name })
		switch {
		case i < 0:
			return Set{}, fmt.Errorf("no fault is called %q; the faults: %s", name, strings.Join(Names(known), ", "))
		case pattern == "":
			s.everywhere[name] = true
		case known[i].ClusterWide:
			return Set{}, fmt.Errorf("fault %s is one of the whole cluster, and cannot be confined to namespaces %s", name,
				pattern)
		default:
			s.confined = append(s.confined, confined{name, pattern})
		}
	}
	return s, nil
}

// Has says whether there is a fault: everywhere, or else in the namespace that In was given.
func (s Set) Has(name string) bool { return s.everywhere[name] }

// In is the set as it is for what is in a namespace.
func (s Set) In(namespace string) Set {
	there := Set{everywhere: maps.Clone(s.everywhere)}
	for _, c := range s.confined {
		if match, err := path.Match(c.pattern, namespace); err == nil && match {
			there.everywhere[c.name] = true
		}
	}
	return there
}

// Only keeps one fault, where the set has it.
func (s Set) Only(name string) Set {
	return Set{
		everywhere: map[string]bool{name: s.everywhere[name]},
		confined:   slices.DeleteFunc(slices.Clone(s.confined), func(c confined) bool { return c.name != name }),
	}
}

// Empty says whether there is no fault anywhere.
func (s Set) Empty() bool { return len(s.everywhere)+len(s.confined) == 0 }

// Names of faults, in their order.
func Names(list []Fault) []string {
	var names []string
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}
