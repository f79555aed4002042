package matching

import (
	"cmp"
	"slices"
)

// Closest returns the indices of the candidates, most similar first: with the fewest differing values. For a missing
// part, all its values count.
func Closest(want any, candidates []any) []int {
	order, weights := make([]int, len(candidates)), make([]int, len(candidates))
	for i, candidate := range candidates {
		order[i], weights[i] = i, weight(Match(want, candidate))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[a], weights[b]) })
	return order
}

func weight(mismatches []Mismatch) int {
	n := 0
	for _, mismatch := range mismatches {
		n += leaves(mismatch.Want)
	}
	return n
}

// leaves counts the scalars in a wanted value, and returns at least 1.
func leaves(want any) int {
	n := 0
	switch want := plain(want).(type) {
	case map[string]any:
		for _, value := range want {
			n += leaves(value)
		}
	case []any:
		for _, value := range want {
			n += leaves(value)
		}
	}
	return max(n, 1)
}

// cutDown returns the elements of a list with only the wanted fields.
func cutDown(want any, list []any) []any {
	fields, isMap := plain(want).(map[string]any)
	if !isMap {
		return list
	}
	var cut []any
	for _, element := range list {
		there, isMap := plain(element).(map[string]any)
		if !isMap {
			cut = append(cut, element)
			continue
		}
		kept := map[string]any{}
		for key := range fields {
			if value, ok := there[key]; ok {
				kept[key] = value
			}
		}
		cut = append(cut, kept)
	}
	return cut
}
