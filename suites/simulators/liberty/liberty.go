// Package liberty contains liberties: differences that a specification allows, and that simulators show on request.
// They are the counterpart of faults: a suite must pass with each of them. The liberties that any controller, client or
// webhook can take are in this package, for all simulators.
package liberty

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Liberty is a difference that the specification allows.
type Liberty struct {
	// Name of the liberty.
	Name string
	// Sentence says what is different.
	Sentence string
	// About are the requirements that a suite could wrongly report as violated because of the liberty. Default: any.
	About []string
	// Unlike are the names of the liberties that cannot be combined with it.
	Unlike []string
}

// Concerns reports whether a suite could wrongly report a requirement as violated because of the liberty.
func (l Liberty) Concerns(id string) bool { return len(l.About) == 0 || slices.Contains(l.About, id) }

// Names returns the names of liberties, in the same order.
func Names(list []Liberty) []string {
	var names []string
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names
}

// Together returns as many of the liberties as can be combined. If some exclude each other, it keeps the first one.
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

// Set contains the requested liberties of a simulator. The zero value contains none.
type Set struct {
	chances map[string]*chance
	// taken gets the name of each liberty that takes effect; nil if nobody asks.
	taken func(name string)
}

// NewSet returns the requested liberties. Each is given as NAME or NAME=SEED. The same seed makes the same choices. An
// unknown liberty is an error.
func NewSet(asked []string, known []Liberty) (Set, error) {
	s := Set{chances: map[string]*chance{}}
	for _, text := range asked {
		name, number, seeded := strings.Cut(text, "=")
		if !slices.Contains(Names(known), name) {
			return Set{}, fmt.Errorf("unknown liberty %q; known: %s", name, strings.Join(Names(known), ", "))
		}
		var seed uint64
		if seeded {
			var err error
			if seed, err = strconv.ParseUint(number, 10, 64); err != nil {
				return Set{}, fmt.Errorf("liberty %s: its seed %q is not a number", name, number)
			}
		}
		s.chances[name] = &chance{seed: seed, asked: map[string]uint64{}}
	}
	return s, nil
}

// Has reports whether the set contains a liberty.
func (s Set) Has(name string) bool { return s.chances[name] != nil }

// Noting returns the set, which calls taken with the name of each liberty when that takes effect the first time.
func (s Set) Noting(taken func(name string)) Set {
	s.taken = taken
	return s
}

// Takes reports whether the set contains a liberty that, if so, takes effect now.
func (s Set) Takes(name string) bool {
	c := s.chances[name]
	if c == nil {
		return false
	}
	if s.taken != nil {
		c.first.Do(func() { s.taken(name) })
	}
	return true
}

// Names returns the names of the set's liberties, in alphabetical order.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.chances)) }

// roll returns a random number from 0 to 1 for a liberty and a subject. Each call returns a new one. It returns 0 if
// the set does not contain the liberty.
func (s Set) roll(name, about string) float64 {
	c := s.chances[name]
	if c == nil {
		return 0
	}
	return c.roll(about)
}

// happens reports whether a liberty takes effect this time. It does so with the given probability, and never if the set
// does not contain it.
func (s Set) happens(name, about string, probability float64) bool {
	return s.Has(name) && s.roll(name, about) < probability && s.Takes(name)
}
