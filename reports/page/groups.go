package page

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// These failures are shown in full to readers without script. All others have one line. Of scenarios that never
// started, a group shows only the first ones.
const (
	shownFailures = 60
	shownText     = 12000
	shownIdle     = 40
)

// group is failures whose messages have the same shape. More is how many of its members are not in the list.
type group struct {
	Shape, Word string
	Status      reports.Status
	Members     []failure
	Count, More int

	rank int
}

// failure is one scenario, or one piece of work on a cluster, that did not pass.
type failure struct {
	Status reports.Status
	// Word is the status in words.
	Word                                     string
	Name, Link, Headline, Place, State, Step string
	// Message is the first line of the step's message, if the headline is something else. Began is the step's time of
	// day.
	Message, Began string
	Differences    []difference
	// Wanted is the step as the file has it, from line WantedLine on. Seen is the actual result.
	Wanted, Seen string
	WantedLine   int
	Text         string
	Files        []file
	// Alone is the command that runs only this scenario.
	Alone string
	Short bool

	rank int
	// shape is equal in failures that belong together.
	shape string
}

// The order of failures.
const (
	rankFailed = iota
	rankError
	rankCut
	rankIdle
	rankKnown
)

// groups returns the failures of a run, worst and most frequent first. Scenarios that were running when the run ended
// come before those that never started.
func (c *collector) groups() []group {
	byShape := map[string]*group{}
	var order []*group
	add := func(f failure) {
		key := fmt.Sprintf("%d %s %s", f.rank, f.Word, f.shape)
		g := byShape[key]
		if g == nil {
			g = &group{Shape: cmp.Or(f.Message, f.Headline), Word: f.Word, Status: f.Status, rank: f.rank}
			if f.Status == reports.Known {
				g.Shape = f.Headline
			}
			byShape[key], order = g, append(order, g)
		}
		if g.Count++; f.rank == rankIdle && g.Count > shownIdle {
			g.More++
			return
		}
		g.Members = append(g.Members, f)
	}
	for _, track := range c.run.Tracks {
		for _, step := range track.Setup {
			if reports.SetupBroken(c.run, step) {
				add(setupFailure(c.run, track, step))
			}
		}
		for _, s := range track.Scenarios {
			if c.failed(s) {
				add(c.scenarioFailure(track, s))
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.Count, a.Count))
	})
	var all []group
	left := shownFailures
	for _, g := range order {
		for i, f := range g.Members {
			if left--; left < 0 || f.rank == rankIdle {
				g.Members[i] = failure{
					Status: f.Status, Word: f.Word, Name: f.Name, Link: f.Link, Headline: f.Headline, Short: true,
				}
			}
		}
		all = append(all, *g)
	}
	return all
}

// failed reports whether a scenario is listed under what did not pass. While a run goes on, scenarios that have not
// started are not.
func (c *collector) failed(s *reports.Scenario) bool {
	switch s.Status.OrNotRun() {
	case reports.Failed, reports.Error, reports.Known:
		return true
	case reports.NotRun:
		return len(s.Runs) > 0 || !s.Started.IsZero() || c.run.Interrupted || !c.run.Finished.IsZero()
	}
	return len(s.Runs) > 0
}

func setupFailure(run *reports.Run, track *reports.Track, step *reports.Step) failure {
	status, rank := reports.Failed, rankFailed
	if step.Status != reports.Failed {
		status, rank = reports.Error, rankError
	}
	text := plain.Clean(reports.ExplainSetup(run, track, step))
	headline, _, _ := strings.Cut(strings.TrimSpace(step.Message), "\n")
	if headline == "" {
		headline, _, _ = strings.Cut(text, "\n")
	}
	return failure{
		Status: status, Word: word(status), Name: "cluster of " + track.Name, Step: reports.SetupTitle(step),
		Headline: brief(plain.Clean(headline)), State: step.State, Text: clipped(text), rank: rank,
		shape: shape(brief(plain.Clean(headline))),
	}
}

func (c *collector) scenarioFailure(track *reports.Track, s *reports.Scenario) failure {
	f := failure{
		Status: s.Status.OrNotRun(), Word: word(s.Status), Name: s.Name, Link: c.anchors[s],
		Headline: brief(reports.Headline(c.run, track, s)), Place: reports.Location(s),
		Text:  clipped(plain.Clean(reports.Explain(s))),
		Files: filesOf(s, c.link), Alone: alone(c.run, s), rank: rankOf(s),
	}
	i := reports.Decisive(s)
	if i < 0 {
		i = reports.Unended(s)
	}
	message := ""
	if i >= 0 {
		step := s.Steps[i]
		f.Link = c.anchors.step(s, i)
		f.Step = fmt.Sprintf("step %d of %d: %s", i+1, len(s.Steps), reports.StepTitle(step))
		f.Place, f.State = step.Position, step.State
		if !step.Started.IsZero() {
			f.Began = step.Started.UTC().Format("15:04:05") + " UTC"
		}
		message = brief(plain.Clean(plain.FirstLine(step.Message)))
		f.Differences = differences(step.Message)
		f.Wanted, f.WantedLine = excerpt(c.run.Sources, step.Position)
		f.Seen = clipped(plain.Clean(step.Evidence))
	}
	switch {
	case len(s.Runs) > 0:
		f.Word, f.Headline, f.Message = "unstable", reports.Unstable(s), message
	case s.Status == reports.Known && s.KnownIssue != "":
		f.Headline, f.Message = plain.OneLine(s.KnownIssue), message
		f.shape = f.Headline
	case message != "" && f.Status != reports.NotRun:
		f.Headline = message
	}
	if f.shape == "" {
		f.shape = shape(cmp.Or(f.Message, f.Headline))
	}
	return f
}

// rankOf returns the place of a scenario in the order of failures.
func rankOf(s *reports.Scenario) int {
	switch {
	case s.Status == reports.Failed || len(s.Runs) > 0:
		return rankFailed
	case s.Status == reports.Error:
		return rankError
	case s.Status == reports.Known:
		return rankKnown
	case s.Started.IsZero():
		return rankIdle
	default:
		return rankCut
	}
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
