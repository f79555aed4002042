package simulator

import (
	"errors"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// Every rejection has other words, and names the same sub groups. The specification's own examples stay unchanged.
func TestOtherWords(t *testing.T) {
	named := func(names ...string) (groups []api.SubGroup) {
		for _, name := range names {
			groups = append(groups, api.SubGroup{Name: name})
		}
		return groups
	}
	nobody, itself := "nobody", "a"
	for name, c := range map[string]struct {
		groups []api.SubGroup
		names  []string
		same   bool
	}{
		"capitals":   {groups: named("Workers"), names: []string{`"Workers"`, `"workers"`}},
		"signs":      {groups: named("a_b"), names: []string{`"a_b"`}},
		"length":     {groups: named(strings.Repeat("a", 64)), names: []string{strings.Repeat("a", 64)}},
		"empty":      {groups: named(""), names: []string{"empty"}},
		"duplicate":  {groups: named("a", "a"), names: []string{" a"}},
		"no parent":  {groups: []api.SubGroup{{Name: "a", Parent: &nobody}}, names: []string{"nobody", "a "}},
		"cycle":      {groups: []api.SubGroup{{Name: "a", Parent: &itself}}, names: []string{"cycle"}},
		"an example": {groups: named("DecodeWorkers"), same: true},
	} {
		err := hierarchy{judgeNames: true}.check(c.groups)
		if err == nil {
			err = errors.New("accepted")
		}
		got := otherWords(err.Error())
		if (got == err.Error()) != c.same {
			t.Errorf("%s: %q became %q", name, err, got)
		}
		for _, part := range c.names {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q does not name %s", name, got, part)
			}
		}
	}
}
