package planning

import (
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/knownissues"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Describe describes the plan: each track with its path and its cost, its scenarios and their steps.
func (p *Plan) Describe(w io.Writer) error {
	var b strings.Builder
	total, starts, unshared, copied := 0, 0, 0, 0
	for _, track := range p.Tracks {
		if track.From != nil {
			copied++
		}
		total += len(track.Entries)
		starts += len(track.Path)
		for _, entry := range track.Entries {
			unshared += entry.States
		}
		track.describe(&b, p.Provider)
	}
	for _, s := range p.Skipped {
		fmt.Fprintf(&b, "skipped: scenario %s (%s): %s\n\n", s.Scenario.Title(), s.Scenario.Position, s.Why)
	}
	shared := ""
	if unshared > starts {
		shared = fmt.Sprintf("; without sharing:  %d", unshared)
	}
	if whose, borrowed := BorrowedFrom(p.Provider); borrowed {
		fmt.Fprintf(&b, "%s on %s, which stays.\n", count(total, "scenario"), whose)
	} else {
		fmt.Fprintf(&b, "%s on %s, %s of the %s provider%s.\n", count(total, "scenario"), count(len(p.Tracks), "cluster"),
			count(starts, "start"), p.Provider.Name(), shared)
	}
	if copied > 0 {
		fmt.Fprintf(&b, "%s with a snapshot of another's first state, which costs about half of a start from "+
			"scratch with systems, and 0.7 of one without.\n", beginning(copied))
	}
	for _, program := range p.unbuilt() {
		fmt.Fprintf(&b, "To be built first, which takes minutes (`rehearse fetch FILE` builds it in advance): %s\n",
			program)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Track) describe(b *strings.Builder, provider clusters.Provider) {
	fmt.Fprintf(b, "%s: %s", t.Name, count(len(t.Path), "start"))
	if t.Alone != "" {
		fmt.Fprintf(b, ", one scenario alone: %s", t.Alone)
	}
	for i, state := range t.Path {
		if i == 0 {
			begin := "create"
			if whose, borrowed := BorrowedFrom(provider); borrowed {
				begin = "using " + whose + ","
			}
			fmt.Fprintf(b, "\n  %s %s%s", begin, state, t.beginning())
			continue
		}
		fmt.Fprintf(b, "\n    then %s%s", state.After(t.Path[i-1]), t.TransitionOptions[i-1])
	}
	b.WriteString("\n")
	for _, entry := range t.Entries {
		s := entry.Scenario
		fmt.Fprintf(b, "  scenario %s (%s)%s\n", s.Title(), s.Position, entry.leaving(t))
		for i := range s.Spec.Steps {
			fmt.Fprintf(b, "    %2d. %s\n", i+1, described(&s.Spec.Steps[i]))
		}
		for _, known := range s.Spec.Known {
			if knownissues.Applies(known, entry.Path(t)) {
				fmt.Fprintf(b, "    known to fail at %q: %s\n", known.Step, known.Reason)
			}
		}
	}
	b.WriteString("\n")
}

// beginning describes the snapshot that the track begins with, and the tracks that begin with its snapshot.
func (t *Track) beginning() string {
	text := ""
	if t.From != nil {
		text = ", from the snapshot of " + t.From.Name
	}
	if len(t.Serves) > 0 {
		text += ", snapshot for " + t.served()
	}
	return text
}

// served names the tracks that begin with this track's snapshot.
func (t *Track) served() string {
	var names []string
	for _, other := range t.Serves {
		names = append(names, other.Name)
	}
	return strings.Join(names, ", ")
}

func beginning(clusters int) string {
	if clusters == 1 {
		return "1 cluster begins"
	}
	return fmt.Sprintf("%d clusters begin", clusters)
}

// described returns a step's title and verb (unless the title begins with it), and what the step breaks.
func described(step *scenarios.Step) string {
	if broken := step.Breaks(); broken != nil {
		return fmt.Sprintf("transition: %s (breaks %s)", step.Title(), broken.Culprit())
	}
	if strings.HasPrefix(step.Title(), step.Verb()) {
		return step.Title() + loaded(step)
	}
	return step.Verb() + ": " + step.Title() + loaded(step)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String returns what Describe writes.
func (p *Plan) String() string {
	var b strings.Builder
	_ = p.Describe(&b) // writing to a Builder never fails
	return b.String()
}

// loaded describes the loads that run during a step.
func loaded(step *scenarios.Step) string {
	var names []string
	for _, l := range step.During {
		names = append(names, l.Name)
	}
	if names == nil {
		return ""
	}
	return " (during it: " + strings.Join(names, ", ") + ")"
}
