package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// shownMoves is how many objects are listed for one transition.
const shownMoves = 40

// moved is what changed by itself after a transition: from its start to the next step that writes.
type moved struct {
	Scenario, Link, Transition string
	Objects                    []movedObject
	More                       int
}

type movedObject struct{ Name, What, Fields string }

// readingVerbs are verbs that do not write, for files from before the steps said it themselves.
var readingVerbs = []string{
	"transition", "eventually", "always", "never", "sequence", "unchanged", "resolve", "metric",
	"rolledOut", "snapshot", "survives",
}

// movements lists what changed by itself, for each transition of each scenario.
func (c *collector) movements() []moved {
	var all []moved
	for _, track := range c.run.Tracks {
		for _, s := range track.Scenarios {
			if c.histories[s] == nil {
				continue
			}
			for i, step := range s.Steps {
				if step.Verb == "transition" && !step.Started.IsZero() {
					if writes(c.run, step) {
						continue
					}
					if m := movedBy(c.run, s, i, c.histories[s]); len(m.Objects) > 0 {
						m.Link = c.anchors.step(s, i)
						all = append(all, m)
					}
				}
			}
		}
	}
	return all
}

// writes reports whether a step, or a load during it, may write. A step of an older file is judged by its verb and its
// text, and may write if its text is unknown.
func writes(run *reports.Run, step *reports.Step) bool {
	if step.Writes != nil {
		return *step.Writes
	}
	text, _ := excerpt(run.Sources, step.Position)
	return text == "" || strings.Contains(text, "during:") || !slices.Contains(readingVerbs, step.Verb)
}

func movedBy(run *reports.Run, s *reports.Scenario, i int, h *history) moved {
	until := i + 1 // the index of the next step that writes, or of the next transition
	for until < len(s.Steps) && !writes(run, s.Steps[until]) && s.Steps[until].Verb != "transition" {
		until++
	}
	m := moved{Scenario: s.Name, Transition: reports.StepTitle(s.Steps[i])}
	for _, o := range h.Objects {
		if o.Kind == "Event" || o.Kind == "Lease" {
			continue
		}
		if what, fields := o.movedIn(i+1, until, s.Steps[i].Started); what != "" {
			if len(m.Objects) == shownMoves {
				m.More++
				continue
			}
			m.Objects = append(m.Objects, movedObject{o.Kind + " " + o.Name, what, fields})
		}
	}
	return m
}

// movedIn returns how an object changed in the steps first to last (both included), and which of its fields. began is
// the start of the first step.
func (o *object) movedIn(first, last int, began time.Time) (what, fields string) {
	counts, paths := map[string]int{}, map[string]bool{}
	for _, c := range o.Changes {
		if c.Step < first || c.Step > last || c.Type == "present" || c.Type == "added" && c.createdBefore(began) {
			continue
		}
		if c.Patch && c.Type == "modified" {
			changed := map[string]any{}
			if json.Unmarshal(c.Body, &changed) == nil {
				own := map[string]bool{}
				leaves(changed, "", own)
				if len(own) == 0 {
					continue // only its resourceVersion
				}
				maps.Copy(paths, own)
			}
		}
		counts[c.Type]++
	}
	var words []string
	for _, word := range []string{"deleted", "added", "modified"} {
		if n := counts[word]; n > 1 {
			words = append(words, fmt.Sprintf("%s %d times", word, n))
		} else if n == 1 {
			words = append(words, word)
		}
	}
	names := slices.Sorted(maps.Keys(paths))
	if len(names) > 6 {
		names = append(names[:6], fmt.Sprintf("and %d more", len(names)-6))
	}
	return strings.Join(words, ", "), strings.Join(names, ", ")
}

// createdBefore reports whether the object was created before a time, or in the same second. On a busy machine, a
// watch delivers it later.
func (c change) createdBefore(at time.Time) bool {
	var object struct {
		Metadata struct {
			CreationTimestamp time.Time `json:"creationTimestamp"`
		} `json:"metadata"`
	}
	if c.Patch || json.Unmarshal(c.Body, &object) != nil || object.Metadata.CreationTimestamp.IsZero() {
		return false
	}
	return !object.Metadata.CreationTimestamp.After(at.Truncate(time.Second))
}

// leaves collects the fields that a merge patch sets, except the resourceVersion, which each change has.
func leaves(patch map[string]any, prefix string, into map[string]bool) {
	for key, value := range patch {
		field := strings.TrimPrefix(prefix+"."+key, ".")
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 {
			leaves(inner, field, into)
		} else if field != "metadata.resourceVersion" {
			into[field] = true
		}
	}
}
