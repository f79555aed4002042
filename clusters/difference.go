package clusters

import (
	"slices"
	"strings"
)

// The directions of a transition.
const (
	Up      = "up"
	Down    = "down"
	Changed = "change"
)

// Difference describes the change from the state before: the direction (Changed if the version stays), and what
// changes: "1.34.4 → 1.35.4, SomeGate on". If before is empty, it describes the whole state.
func (s State) Difference(before State) (direction, what string) {
	var parts []string
	if s.Version != before.Version {
		parts = append(parts, strings.TrimPrefix(before.Version+" → "+s.Version, " → "))
	}
	was, is := before.words(), s.words()
	named := map[string]bool{}
	for _, word := range is[1:] {
		named[nameIn(word)] = true
		if !slices.Contains(was, word) {
			parts = append(parts, plainWord(word))
		}
	}
	for _, word := range was[1:] {
		switch name := nameIn(word); {
		case named[name]:
		case plainWord(word) != word:
			parts = append(parts, name+" at its default")
		default:
			parts = append(parts, "without "+name)
		}
	}
	if len(parts) == 0 {
		parts = []string{s.String()} // no word shows the difference
	}
	return direct(before.Version, s.Version), strings.Join(parts, ", ")
}

// plainWord replaces =true and =false by "on" and "off".
func plainWord(word string) string {
	if strings.Contains(word, ":--") {
		return word
	}
	if name, on := strings.CutSuffix(word, "=true"); on {
		return name + " on"
	}
	if name, off := strings.CutSuffix(word, "=false"); off {
		return name + " off"
	}
	return word
}

func direct(from, to string) string {
	a, err1 := ParseVersion(from)
	b, err2 := ParseVersion(to)
	switch {
	case err1 != nil || err2 != nil || a.Compare(b) == 0:
		return Changed
	case a.Compare(b) < 0:
		return Up
	default:
		return Down
	}
}
