// Package liberty contains differences that a specification allows, and that simulators show on request; they are the
// counterpart of faults. A suite must pass with each of them. Differences that any controller, client or webhook can
// have are here, for all simulators.
package liberty

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Liberty is a way to be different that the specification allows.
type Liberty struct {
	// Name by which it is asked for.
	Name string
	// Sentence says what is different.
	Sentence string
	// About are the requirements that a suite could wrongly call broken because of it. Default: any.
	About []string
	// Unlike are the liberties that cannot be taken together with it.
	Unlike []string
}

// Concerns says whether a suite could wrongly call a requirement broken because of the liberty.
func (l Liberty) Concerns(id string) bool { return len(l.About) == 0 || slices.Contains(l.About, id) }

// Names of liberties, in their order.
func Names(list []Liberty) []string {
	var names []string
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names
}

// Together are as many of the liberties as can be taken at once: of those that exclude each other the first.
func Together(list []Liberty) []Liberty {
	var all []Liberty
	for _, l := range list {
		excluded := func(other Liberty) bool {
			return slices.Contains(l.Unlike, other.Name) || slices.Contains(other.Unlike, l.Name)
		}
		if !slices.ContainsFunc(all, excluded) {
			all = append(all, l)
		}
	}
	return all
}

// Set is the liberties that a simulator was asked to take. The zero value has none.
type Set struct{ chances map[string]*chance }

// NewSet returns the liberties that were asked for, NAME or NAME=SEED, of those that are known. The same seed makes the
// same choices.
func NewSet(asked []string, known []Liberty) (Set, error) {
	s := Set{chances: map[string]*chance{}}
	for _, text := range asked {
		name, number, seeded := strings.Cut(text, "=")
		if !slices.Contains(Names(known), name) {
			return Set{}, fmt.Errorf("no liberty is called %q; the liberties: %s", name, strings.Join(Names(known), ", "))
		}
		var seed uint64
		if seeded {
			var err error
			if seed, err = strconv.ParseUint(number, 10, 64); err != nil {
				return Set{}, fmt.Errorf("liberty %s: its seed %q is no number", name, number)
			}
		}
		s.chances[name] = &chance{seed: seed, asked: map[string]uint64{}}
	}
	return s, nil
}

// Has says whether a liberty is taken.
func (s Set) Has(name string) bool { return s.chances[name] != nil }

// Empty says whether none is taken.
func (s Set) Empty() bool { return len(s.chances) == 0 }

// Names of the liberties that are taken, in alphabetical order.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.chances)) }

// roll is a number from 0 to 1 that a liberty has for something, another one each time; 0 where the liberty is not
// taken.
func (s Set) roll(name, about string) float64 {
	c := s.chances[name]
	if c == nil {
		return 0
	}
	return c.roll(about)
}

// happens says whether a liberty that is taken shows this time, which it does with a probability.
func (s Set) happens(name, about string, probability float64) bool {
	return s.Has(name) && s.roll(name, about) < probability
}
