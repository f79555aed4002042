package upgrades

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// LikelyFirst puts flips of gates first whose names are related to a finding. This is a hint, not a proof.
func LikelyFirst(flips []string, kind, words string) []string {
	sorted := slices.Clone(flips)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(related(b, kind, words),
			related(a, kind, words))
	})
	return sorted
}

// related returns how much of a gate's name is in the kind and the words of a finding.
func related(flip, kind, words string) int {
	gate, _, _ := strings.Cut(flip, " ")
	kind, _, _ = strings.Cut(kind, ".")
	if strings.Contains(gate, kind) {
		return 10
	}
	said := map[string]bool{}
	for _, name := range strings.FieldsFunc(words, func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, word := range nameWords(name) {
			said[word] = true
		}
	}
	score := 0
	for _, word := range nameWords(gate) {
		if len(word) > 2 && said[word] && !slices.Contains(common(), word) {
			score++
		}
	}
	return score
}

// common returns words of gates' names that are too common for a match.
func common() []string {
	return []string{
		"validation", "enable", "allow", "status", "field", "name", "new", "api", "set", "pod", "spec",
		"invalid", "container", "node", "kubelet", "list", "for", "and", "update", "resource", "version", "kind", "value",
		"not", "the", "type",
	}
}

// nameWords splits a name: StrictIPCIDRValidation is strict, ipcidr and validation, and also cidr.
func nameWords(name string) []string {
	var all []string
	runes := []rune(name)
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) {
			lowerToUpper := unicode.IsLower(runes[i-1]) && unicode.IsUpper(runes[i])
			acronymEnds := i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i]) &&
				unicode.IsLower(runes[i+1])
			if !lowerToUpper && !acronymEnds {
				continue
			}
		}
		word := strings.ToLower(string(runes[start:i]))
		all, start = append(all, word), i
		for _, acronym := range []string{"cidr", "dns", "csi", "dra", "hpa", "crd"} {
			if word != acronym && strings.Contains(word, acronym) {
				all = append(all, acronym)
			}
		}
	}
	return all
}
