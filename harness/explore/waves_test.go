package explore

import (
	"fmt"
	"testing"
)

// Each object is in one part, no part has too many, and there is always a part: an untouched cluster crosses, too.
func TestParts(t *testing.T) {
	for most, want := range map[int]string{1: "[1 1 1 1 1 1 1]", 3: "[2 2 3]", 4: "[3 4]", 7: "[7]", 9: "[7]"} {
		all := make([]*entry, 7)
		for i := range all {
			all[i] = new(entry)
		}
		var sizes []int
		var together []*entry
		for _, part := range parts(all, most) {
			sizes = append(sizes, len(part))
			together = append(together, part...)
		}
		if got := fmt.Sprint(sizes); got != want {
			t.Errorf("at most %d: parts of %s, want %s", most, got, want)
		}
		for i := range all {
			if together[i] != all[i] {
				t.Errorf("at most %d: entry %d is not in its place", most, i)
			}
		}
	}
	if got := parts(nil, 3); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("no entries: %v, want one empty part", got)
	}
}
