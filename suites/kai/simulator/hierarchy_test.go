package simulator

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// sub is a sub group; with a parent if one is given.
func sub(name string, parent ...string) api.SubGroup {
	group := api.SubGroup{Name: name, MinMember: 1}
	if len(parent) > 0 {
		group.Parent = &parent[0]
	}
	return group
}

func TestHierarchy(t *testing.T) {
	const cycle = "cycle detected in subgroups"
	tests := []struct {
		name   string
		groups []api.SubGroup
		want   string
	}{
		{"none", nil, ""},
		{"two levels", []api.SubGroup{sub("child", "parent"), sub("parent")}, ""},
		{"a duplicate", []api.SubGroup{sub("a"), sub("a")}, "duplicate subgroup name a"},
		{"a duplicate, then a bad name", []api.SubGroup{sub("a"), sub("a"), sub("B")}, "duplicate subgroup name a"},
		{
			"a bad name, then a duplicate",
			[]api.SubGroup{sub("a"), sub("B"), sub("a")},
			`subgroup name "B" must be lowercase; use "b" instead`,
		},
		{"two bad names", []api.SubGroup{sub("A"), sub("B")}, `subgroup name "A" must be lowercase; use "a" instead`},
		{"a missing parent", []api.SubGroup{sub("a"), sub("b", "x")}, "parent x of b was not found"},
		{"an empty parent", []api.SubGroup{sub("a", "")}, "parent  of a was not found"},
		{
			"a parent in another case",
			[]api.SubGroup{sub("workers"), sub("c", "Workers")},
			"parent Workers of c was not found",
		},
		{
			"a bad name before a missing parent",
			[]api.SubGroup{sub("a", "x"), sub("B")},
			`subgroup name "B" must be lowercase; use "b" instead`,
		},
		{
			"a missing parent before a cycle",
			[]api.SubGroup{sub("a", "b"), sub("b", "a"), sub("c", "x")},
			"parent x of c was not found",
		},
		{"a cycle by a duplicate", []api.SubGroup{sub("a", "b"), sub("b"), sub("b", "a")}, "duplicate subgroup name b"},
		{"its own parent", []api.SubGroup{sub("a", "a")}, cycle},
		{"a cycle below a root", []api.SubGroup{sub("a"), sub("b", "c"), sub("c", "b")}, cycle},
		{"a way into a cycle", []api.SubGroup{sub("a", "b"), sub("b", "c"), sub("c", "b")}, cycle},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := text(hierarchy{judgeNames: true}.check(test.groups)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A forest has no cycle. With its root below one of its descendants it has a cycle, of any length.
func TestCyclesOfEveryLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(1, 60).Draw(t, "length")
		others := rapid.IntRange(0, 20).Draw(t, "others")
		var groups []api.SubGroup
		for i := range length {
			if i == 0 {
				groups = append(groups, sub("g0"))
				continue
			}
			groups = append(groups, sub(fmt.Sprintf("g%d", i), fmt.Sprintf("g%d", i-1)))
		}
		for i := range others {
			parent := rapid.IntRange(0, len(groups)-1).Draw(t, "parent")
			groups = append(groups, sub(fmt.Sprintf("other%d", i), groups[parent].Name))
		}
		order := rapid.Permutation(groups).Draw(t, "order")
		if err := (hierarchy{}).check(order); err != nil {
			t.Fatalf("a forest: %v", err)
		}
		last := fmt.Sprintf("g%d", length-1)
		for i := range order {
			if order[i].Name == "g0" {
				order[i].Parent = &last
			}
		}
		if got := text(hierarchy{}.check(order)); got != "cycle detected in subgroups" {
			t.Errorf("a cycle of %d: %q", length, got)
		}
	})
}
