package features

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// advice returns advice for an unknown gate: the versions that have it or a similar name, and what to do.
func (l *List) advice(name string, v clusters.Version) string {
	older, newer := l.neighbours(name, v)
	switch {
	case newer != nil:
		return fmt.Sprintf("it was added in %s: use that version or a newer one, or omit the gate "+
			"(null in a transition)", appearance(newer, name, v))
	case older != nil:
		was, _ := clusters.ParseVersion(older.Version)
		said := ""
		if spec, started := older.Gates[name].At(was); started && spec.Locked {
			said = fmt.Sprintf(", where it was locked to %t", spec.Default)
		}
		return fmt.Sprintf("it was removed after %s%s: omit the gate (null in a transition)", was.MinorString(), said)
	}
	if near := nearest(name, clusters.SortedKeys(l.Gates)); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "check its spelling and the version that it came with, or leave it out"
}

// neighbours returns the newest older list and the oldest newer list that have the gate.
func (l *List) neighbours(name string, v clusters.Version) (older, newer *List) {
	var olderAt, newerAt clusters.Version
	for _, other := range l.others {
		at, err := clusters.ParseVersion(other.Version)
		if _, known := other.Gates[name]; err != nil || !known {
			continue
		}
		switch {
		case at.Compare(v) > 0 && (newer == nil || at.Compare(newerAt) < 0):
			newer, newerAt = other, at
		case at.Compare(v) < 0 && (older == nil || at.Compare(olderAt) > 0):
			older, olderAt = other, at
		}
	}
	return older, newer
}

// appearance returns the version that added a gate that v does not have: the minor version of its first spec, or the
// list's release if that spec is not newer than v.
func appearance(l *List, name string, v clusters.Version) string {
	first := l.Gates[name].Specs[0]
	if first.version().Compare(minorOf(v)) > 0 {
		return first.Since
	}
	return l.Version
}

// nearest returns the candidate with the most similar name, or "".
func nearest(name string, candidates []string) string {
	best, bestDistance := "", max(2, len(name)/4)+1
	for _, candidate := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		if d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{cost, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
