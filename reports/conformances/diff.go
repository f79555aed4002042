package conformances

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Diff is what changed from one report to another.
type Diff struct {
	Before, After *Report
	// Changes of requirements, sorted by id.
	Changes []Change
}

// Change is how a requirement differs. Before or After is nil if a report does not have the requirement.
type Change struct {
	ID            string
	Before, After *Requirement
}

// Compare compares two reports of one suite.
func Compare(before, after *Report) (*Diff, error) {
	if before.Suite.Name != after.Suite.Name {
		return nil, fmt.Errorf("comparing conformance reports: one is of suite %s, the other of suite %s", before.Suite.Name,
			after.Suite.Name)
	}
	d := &Diff{Before: before, After: after}
	was, is := requirementsByID(before), requirementsByID(after)
	var ids []string
	for id := range was {
		ids = append(ids, id)
	}
	for id := range is {
		if was[id] == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareIDs)
	for _, id := range ids {
		if c := (Change{ID: id, Before: was[id], After: is[id]}); c.differs() {
			d.Changes = append(d.Changes, c)
		}
	}
	return d, nil
}

func requirementsByID(r *Report) map[string]*Requirement {
	all := map[string]*Requirement{}
	for i := range r.Requirements {
		all[r.Requirements[i].ID] = &r.Requirements[i]
	}
	return all
}

// compareIDs sorts KEP5311-I2 before KEP5311-I10.
func compareIDs(a, b string) int {
	x, y := idParts(a), idParts(b)
	return slices.CompareFunc(x, y, func(p, q string) int {
		m, errM := strconv.Atoi(p)
		n, errN := strconv.Atoi(q)
		if errM == nil && errN == nil && m != n {
			return m - n
		}
		return strings.Compare(p, q)
	})
}

// idParts splits an id into digits and other characters.
func idParts(id string) []string {
	var parts []string
	digits := false
	for _, r := range id {
		if is := unicode.IsDigit(r); len(parts) > 0 && is == digits {
			parts[len(parts)-1] += string(r)
		} else {
			parts, digits = append(parts, string(r)), is
		}
	}
	return parts
}

func (c Change) differs() bool {
	return c.Before == nil || c.After == nil || c.Before.Status != c.After.Status || c.Before.Level != c.After.Level ||
		c.Before.Variant != c.After.Variant ||
		len(onlyIn(c.After.Scenarios.Failed, c.Before.Scenarios.Failed)) > 0 ||
		len(onlyIn(c.Before.Scenarios.Failed, c.After.Scenarios.Failed)) > 0
}

// onlyIn returns the names in a that are not in b.
func onlyIn(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
}

// Same reports whether every requirement has the same result.
func (d *Diff) Same() bool { return len(d.Changes) == 0 }

// Worse counts the requirements whose result is worse than before.
func (d *Diff) Worse() int {
	return plain.Count(d.Changes, func(c Change) bool { return c.way() < 0 })
}

// Better counts the requirements whose result is better than before.
func (d *Diff) Better() int {
	return plain.Count(d.Changes, func(c Change) bool { return c.way() > 0 })
}

// rank orders statuses: a higher one is better for the implementation.
func rank(status Status) int {
	return map[Status]int{
		Failed: 0, Unstable: 0, Known: 1, Untested: 2,
		Passed: 3,
	}[status]
}

// way is negative if the result is worse than before, and positive if it is better. A result that is not judged is
// never better. A requirement that is new or no longer required is neither, unless a new one is not met.
func (c Change) way() int {
	switch {
	case c.Before == nil && (c.After.Status == Failed || c.After.Status == Unstable):
		return -1
	case c.Before == nil || c.After == nil:
		return 0
	case c.After.Status == Untested:
		return min(rank(Untested)-rank(c.Before.Status), 0)
	}
	return rank(c.After.Status) - rank(c.Before.Status)
}

// String returns a text for a person: what is compared, the levels, and each requirement that differs with its
// scenarios.
func (d *Diff) String() string {
	var b strings.Builder
	d.headers(&b)
	for _, level := range []struct {
		name          string
		before, after Level
	}{{coreLevel, d.Before.Core, d.After.Core}, {extendedLevel, d.Before.Extended, d.After.Extended}} {
		fmt.Fprintf(&b, "%-9s %s\n", level.name, arrow(describeLevel(level.before), describeLevel(level.after)))
	}
	for _, c := range d.Changes {
		b.WriteString("\n" + c.String())
	}
	if d.Same() {
		b.WriteString("\nno requirement differs\n")
		return b.String()
	}
	fmt.Fprintf(&b, "\n%s: %d worse, %d better\n", plain.Differ(len(d.Changes), "requirement"), d.Worse(), d.Better())
	return b.String()
}

func describeLevel(l Level) string { return fmt.Sprintf("%s, %s", l.Result, l.Statistics) }

func arrow(before, after string) string {
	if before == after {
		return before
	}
	return before + "  ->  " + after
}

func (d *Diff) headers(b *strings.Builder) {
	who := func(r *Report) string {
		return r.Implementation.String() + selection(r, ",")
	}
	fmt.Fprintf(b, "%s: %s\n", d.Before.Suite.Name, arrow(who(d.Before), who(d.After)))
	if x, y := d.Before.Suite.Digest, d.After.Suite.Digest; x != y {
		fmt.Fprintf(b, "the suite itself differs (digest %s), so a difference may come from the suite\n", arrow(x, y))
	}
	if x, y := strings.Join(d.Before.Reproduce.Kubernetes, ", "), strings.Join(d.After.Reproduce.Kubernetes,
		", "); x != y {
		fmt.Fprintf(b, "Kubernetes %s\n", arrow(x, y))
	}
}

// String returns the change in one line, then the requirement's statement, and then its scenarios.
func (c Change) String() string {
	var b strings.Builder
	describe := func(q *Requirement, level bool) string {
		switch {
		case q == nil:
			return "not required"
		case level:
			return q.Level + " " + string(q.Status)
		}
		return string(q.Status)
	}
	level := c.Before == nil || c.After == nil || c.Before.Level != c.After.Level
	one := c.After
	if one == nil {
		one = c.Before
	}
	name := c.ID
	if !level {
		name += " (" + one.Level + ")"
	}
	fmt.Fprintf(&b, "%s: %s\n  %s\n", name, arrow(describe(c.Before, level), describe(c.After, level)),
		plain.OneLine(one.Statement))
	if c.After == nil {
		return b.String()
	}
	if c.Before != nil && c.Before.Variant != c.After.Variant {
		fmt.Fprintf(&b, "  as %s\n", arrow(cmp.Or(c.Before.Variant, "none"), cmp.Or(c.After.Variant, "none")))
	}
	if c.After.Reason != "" {
		fmt.Fprintf(&b, "  now: %s\n", plain.OneLine(c.After.Reason))
	}
	if c.Before != nil && c.After.Status == Failed && c.Before.Status == Failed {
		for _, name := range onlyIn(c.After.Scenarios.Failed, c.Before.Scenarios.Failed) {
			fmt.Fprintf(&b, "  also fails now: %s\n", name)
		}
		for _, name := range onlyIn(c.Before.Scenarios.Failed, c.After.Scenarios.Failed) {
			fmt.Fprintf(&b, "  no longer fails: %s\n", name)
		}
	}
	return b.String()
}
