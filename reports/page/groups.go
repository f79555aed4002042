package page

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// These failures are shown in full to readers without script. All others have one line.
const (
	shownFailures = 60
	shownText     = 12000
)

// group is failures whose messages have the same shape.
type group struct {
	Shape   string
	Status  reports.Status
	Members []failure
}

// failure is one scenario, or one piece of work on a cluster, that did not pass.
type failure struct {
	Status                             reports.Status
	Name, Link, Headline, Place, State string
	Step                               string
	Differences                        []difference
	// Wanted is the step as the file has it, from line WantedLine on. Seen is the actual result.
	Wanted, Seen string
	WantedLine   int
	Text         string
	Short        bool
}

// groups returns the failures of a run, worst and most frequent first.
func groups(run *reports.Run) []group {
	byShape := map[string]*group{}
	var order []*group
	add := func(f failure) {
		key := string(f.Status) + " " + shape(f.Headline)
		g := byShape[key]
		if g == nil {
			g = &group{Shape: f.Headline, Status: f.Status}
			byShape[key], order = g, append(order, g)
		}
		g.Members = append(g.Members, f)
	}
	for _, track := range run.Tracks {
		for _, step := range track.Setup {
			if reports.SetupBroken(run, step) {
				add(setupFailure(run, track, step))
			}
		}
		for _, s := range track.Scenarios {
			if s.Status == reports.Failed || s.Status == reports.Error || s.Status == reports.Known {
				add(scenarioFailure(run, track, s))
			}
		}
	}
	ranks := []reports.Status{reports.Failed, reports.Error, reports.NotRun, reports.Known}
	slices.SortStableFunc(order, func(a, b *group) int {
		return cmp.Or(cmp.Compare(slices.Index(ranks, a.Status), slices.Index(ranks, b.Status)),
			cmp.Compare(len(b.Members), len(a.Members)))
	})
	var all []group
	left := shownFailures
	for _, g := range order {
		for i := range g.Members {
			if left--; left < 0 {
				g.Members[i] = failure{
					Status: g.Members[i].Status, Name: g.Members[i].Name, Link: g.Members[i].Link,
					Headline: g.Members[i].Headline, Short: true,
				}
			}
		}
		all = append(all, *g)
	}
	return all
}

func setupFailure(run *reports.Run, track *reports.Track, step *reports.Step) failure {
	status := step.Status
	if status != reports.Failed {
		status = reports.Error
	}
	text := reports.ExplainSetup(run, track, step)
	headline, _, _ := strings.Cut(strings.TrimSpace(step.Message), "\n")
	if headline == "" {
		headline, _, _ = strings.Cut(text, "\n")
	}
	return failure{
		Status: status, Name: "cluster of " + track.Name, Step: reports.SetupTitle(step),
		Headline: brief(plain.Clean(headline)), State: step.State, Text: clipped(text),
	}
}

func scenarioFailure(run *reports.Run, track *reports.Track, s *reports.Scenario) failure {
	f := failure{
		Status: s.Status, Name: s.Name, Link: anchor(s), Headline: reports.Headline(run, track, s),
		Place: place(s), Text: clipped(reports.Explanation(s)),
	}
	i := reports.Decisive(s)
	if i < 0 {
		return f
	}
	step := s.Steps[i]
	f.Link += "/" + itoa(i+1)
	f.Step, f.Place, f.State = "step "+itoa(i+1)+" of "+itoa(len(s.Steps))+": "+reports.StepTitle(step), step.Position,
		step.State
	if line, _, _ := strings.Cut(strings.TrimSpace(step.Message), "\n"); line != "" {
		f.Headline = brief(plain.Clean(line))
	}
	f.Differences = differences(step.Message)
	f.Wanted, f.WantedLine = excerpt(run.Sources, step.Position)
	f.Seen = clipped(plain.Clean(step.Evidence))
	return f
}

// pointer is the end of a line that points to more text below it.
var pointer = regexp.MustCompile(`; the end of \S+:$`)

// brief returns a line without such an end.
func brief(line string) string { return pointer.ReplaceAllString(line, "") }

func clipped(text string) string {
	if len(text) > shownText {
		return strings.ToValidUTF8(text[:shownText], "") + "\n… (the rest is in run.json)"
	}
	return text
}

// These parts differ between messages that otherwise say the same.
var shapes = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`"[^"]*"`), `"…"`},
	{regexp.MustCompile(`\b(create|apply|update|patch|delete|scale|evict) (\w+) [\w./-]+`), "$1 $2 …"},
	{regexp.MustCompile(`\b(pid|line) \d+`), "$1 …"},
	{regexp.MustCompile(`/[\w.@/-]{8,}`), "…"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f-]{27}\b`), "…"},
	{regexp.MustCompile(`[+-]?\d+(\.\d+)?(ms|µs|s|m|h)\b`), "…"},
	{regexp.MustCompile(`\b(in namespace|namespace|named|name) [\w.-]+`), "$1 …"},
	{regexp.MustCompile(`\b[\w-]+/[\w.-]+\b`), "…"},
	{regexp.MustCompile(`\b[\w]+(-[\w]+)*-?\d[\w.-]*\b`), "…"},
}

// shape returns a message without the parts that differ from case to case.
func shape(message string) string {
	for _, s := range shapes {
		message = s.pattern.ReplaceAllString(message, s.with)
	}
	return message
}
