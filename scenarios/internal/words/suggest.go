// Package words suggests corrections for misspelt words, and shortens texts for messages.
package words

import (
	"fmt"
	"slices"
	"strings"
)

// Suggest names the known word that is probably meant, or lists the known words if none is similar.
func Suggest(word string, known []string, what string) string {
	best, distance := "", 1+max(1, len(word)/3)
	for _, k := range known {
		if d := Distance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(known) == 0 || what == "" {
		return ""
	}
	sorted := slices.Sorted(slices.Values(known))
	return fmt.Sprintf("%s: %s", what, strings.Join(sorted, ", "))
}

// Distance counts the insertions, deletions, replacements and swaps of neighbours that make a into b.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 {
		return 64 // too long for a typo
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(s)][len(t)]
}

// Short cuts a long text for a message.
func Short(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:57]) + "..."
	}
	return text
}
