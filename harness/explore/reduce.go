package explore

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/survey"
)

// rounds is the maximum number of reduction rounds.
const rounds = 6

// reduce makes the object of each finding small, and its path short. All variants of all findings on one path cross it
// together. If several gates are explored, that path flips all of them, because otherwise each gate would need its own
// clusters. In the end each finding gets the path of its own gate.
func (e *exploration) reduce(ctx context.Context) error {
	for _, g := range e.groups {
		g.path = e.shortest(g)
	}
	err := e.shrink(ctx)
	if err == nil {
		err = (&gateSearch{exploration: e, send: e.cross, digits: map[*group]*digits{}}).run(ctx)
	}
	e.groups = merged(e.groups)
	for _, g := range e.groups {
		e.isolate(g)
	}
	return err
}

// crossedAtOnce is the number of paths that are crossed concurrently. Each has its own cluster.
const crossedAtOnce = 2

// shrink makes the objects of all findings smaller.
func (e *exploration) shrink(ctx context.Context) error {
	var working errgroup.Group
	working.SetLimit(crossedAtOnce)
	for _, path := range pathsOf(e.groups) {
		working.Go(func() error { return e.shrinkOn(ctx, path) })
	}
	err := working.Wait()
	e.timeUp("reducing the objects of findings")
	return cmp.Or(err, context.Cause(ctx))
}

// shrinkOn makes the objects of the findings on one path smaller.
func (e *exploration) shrinkOn(ctx context.Context, path []clusters.State) error {
	var reducing []*reduction
	for _, g := range e.groups {
		if hopsOf(g.path) == hopsOf(path) && g.smallest != nil && !g.broken() { // others change the other groups
			reducing = append(reducing, &reduction{group: g})
		}
	}
	for round := 0; round < rounds && e.limit.Err() == nil; round++ {
		if err := e.round(ctx, path, reducing); err != nil {
			return err
		}
		reducing = slices.DeleteFunc(reducing, func(r *reduction) bool { return r.done })
	}
	return context.Cause(ctx)
}

// round lets variants of all findings cross the path.
func (e *exploration) round(ctx context.Context, path []clusters.State, reducing []*reduction) error {
	var entries []*entry
	var groups []*group
	for _, r := range reducing {
		r.vary(path[0])
		entries = append(entries, r.entries()...)
		groups = append(groups, r.group)
	}
	var seen []*sighting
	if len(entries) > 0 {
		e.Progress("reducing the objects of %d findings: %d variants on %s", len(reducing), len(entries),
			strings.ReplaceAll(hopsOf(path), "|", " -> "))
		var err error
		if seen, _, err = e.cross(ctx, path, entries, e.settleFor(groups)); err != nil {
			return err
		}
	}
	shows := shownBy(seen)
	for _, r := range reducing {
		key, before := r.group.keyOn(path), r.group.smallest
		r.learn(func(one *entry) bool { return like(shows[one], key) != nil })
		if r.group.smallest != before {
			r.group.narrow(like(shows[r.group.smallest], key))
		}
	}
	return nil
}

// narrow adopts the words of a sighting of the smallest object, which may have fewer causes.
func (g *group) narrow(s *sighting) {
	parts := strings.SplitN(g.key, "|", 3)
	g.key = strings.Join([]string{parts[0], parts[1], strings.SplitN(keyOf(s), "|", 3)[2]}, "|")
	words := *g.finding
	words.Words = s.finding.Words
	g.finding = &words
}

// shownBy are the findings that each object shows, by their keys.
func shownBy(seen []*sighting) map[*entry]map[string]*sighting {
	shows := map[*entry]map[string]*sighting{}
	for _, s := range seen {
		for _, one := range s.entries {
			if shows[one] == nil {
				shows[one] = map[string]*sighting{}
			}
			shows[one][keyOf(s)] = s
		}
	}
	return shows
}

// like returns the finding with that key. Otherwise, it returns one whose causes are all in the key; nil if there is
// none. A smaller object may fail for fewer causes.
func like(shown map[string]*sighting, key string) *sighting {
	if s := shown[key]; s != nil {
		return s
	}
	before, all := causesIn(key)
	for _, other := range slices.Sorted(maps.Keys(shown)) {
		same, causes := causesIn(other)
		if same == before && !slices.ContainsFunc(causes, func(c string) bool { return !slices.Contains(all, c) }) {
			return shown[other]
		}
	}
	return nil
}

// furtherCause matches the beginning of another cause in the words of a finding.
var furtherCause = regexp.MustCompile(`, (?:FIELD|[a-zA-Z]+)(?:\[\])?: |; `)

// causesIn are the causes in the words of a key, and what stands before them.
func causesIn(key string) (before string, causes []string) {
	before, words, found := strings.Cut(key, "is invalid: ")
	if !found {
		at := strings.LastIndex(key, "|") + 1
		before, words = key[:at], key[at:]
	}
	words = strings.TrimSuffix(strings.TrimPrefix(words, "["), "]")
	at := 0
	for _, found := range furtherCause.FindAllStringIndex(words, -1) {
		causes = append(causes, words[at:found[0]])
		at = found[0] + 2
	}
	return before, append(causes, words[at:])
}

// settleFor is how long the untouched cluster is watched at each state. Only findings about changes without a user
// action need that.
func (e Options) settleFor(groups []*group) time.Duration {
	for _, g := range groups {
		for _, check := range g.checks {
			if check == string(survey.Moved) || check == string(survey.Condition) {
				return e.Settle
			}
		}
	}
	return 0
}

// keyOn is the group's key on another path.
func (g *group) keyOn(path []clusters.State) string {
	parts := strings.SplitN(g.key, "|", 3)
	return strings.Join([]string{nameOf(path[max(len(path)-2, 0)]), nameOf(path[len(path)-1]), parts[2]}, "|")
}
