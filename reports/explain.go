package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Interrupted is the reason for what did not run, or did not finish, in an interrupted run.
const Interrupted = "interrupted"

// stepTitle is a step's name, or its verb.
func stepTitle(s *Step) string {
	if s.Name == "" {
		return s.Verb
	}
	return s.Name
}

// setupTitle is a setup step's name with its verb: "create 1.34.4, SomeGate off", "up: 1.34.4 → 1.35.4, SomeGate on".
func setupTitle(s *Step) string {
	switch {
	case s.Direction != "":
		return s.Direction + ": " + s.Change
	case s.Change != "":
		return s.Verb + " " + s.Change
	case s.Name == "":
		return s.Verb
	case s.Verb == "" || strings.HasPrefix(s.Name, s.Verb):
		return s.Name
	case s.Verb == "transition":
		return "transition to " + s.Name
	default:
		return s.Verb + " " + s.Name
	}
}

// Called is what the scenarios call a transition, in quotes.
func Called(s *Step) string {
	var names []string
	for _, name := range s.Called {
		names = append(names, fmt.Sprintf("%q", name))
	}
	return strings.Join(names, ", ")
}

// TitledMessage is a step's title with the first line of its message, or only that line if it begins with the title.
func TitledMessage(s *Step) string {
	title, line := stepTitle(s), plain.FirstLine(s.Message)
	switch {
	case line == "":
		return title
	case strings.HasPrefix(line, title):
		return line
	default:
		return title + ": " + line
	}
}

// Numbered is the number of a scenario's step: "step 3 of 10".
func Numbered(s *Scenario, i int) string { return fmt.Sprintf("step %d of %d", i+1, len(s.Steps)) }

// Broke reports whether a step failed or is an error; a known issue does not count.
func Broke(s *Step) bool { return s.Status == Failed || s.Status == Error }

// WhyNotRun says in a few words why a scenario has no verdict.
func WhyNotRun(run *Run, track *Track, s *Scenario) string {
	if cut := cutShort(run, s); cut != "" {
		return cut
	}
	if s.Message != "" {
		return plain.FirstLine(s.Message)
	}
	if setup := BrokenSetup(track); setup != nil {
		return "setup failed: " + setupTitle(setup) + plain.Prefixed(": ", plain.FirstLine(setup.Message))
	}
	for _, step := range s.Steps {
		if step.Status == NotRun && step.Message != "" && step.Message != Interrupted {
			return stepTitle(step) + ": " + plain.FirstLine(step.Message)
		}
	}
	switch {
	case run.Interrupted:
		return Interrupted
	case !s.Started.IsZero():
		return didNotFinish(run)
	case len(s.Steps) == 0:
		return "it has no steps"
	default:
		return "never started"
	}
}

// cutShort names the step that a scenario was in when it ended without a verdict; "" if another reason is known.
func cutShort(run *Run, s *Scenario) string {
	i := Unended(s)
	if i < 0 || !run.Interrupted && s.Message != "" {
		return ""
	}
	text := "did not finish "
	if run.Interrupted {
		text = Interrupted + " in "
	}
	text += Numbered(s, i) + ": " + stepTitle(s.Steps[i])
	if took := Elapsed(s.Steps[i].Started, s.Steps[i].Finished); took > 0 {
		text += ", after " + plain.Duration(took)
	}
	return text
}

// Unended is the index of the step that began and has no result, or -1.
func Unended(s *Scenario) int {
	return slices.IndexFunc(s.Steps, func(step *Step) bool {
		return step.Status.OrNotRun() == NotRun && !step.Started.IsZero() && !wasNotJudged(step)
	})
}

// whySetupNotRun says in a few words why a setup step was not done.
func whySetupNotRun(run *Run, track *Track, s *Step) string {
	switch broken := BrokenSetup(track); {
	case s.Message != "":
		return plain.FirstLine(s.Message)
	case !s.Started.IsZero():
		return didNotFinish(run)
	case broken != nil:
		return "an earlier setup step failed: " + setupTitle(broken)
	case run.Interrupted:
		return Interrupted
	default:
		return "never started"
	}
}

func didNotFinish(run *Run) string {
	if run.Interrupted {
		return Interrupted
	}
	return "did not finish"
}

// BrokenSetup is the first setup step that failed, or nil.
func BrokenSetup(t *Track) *Step {
	i := slices.IndexFunc(t.Setup, func(s *Step) bool { return s.Status == Failed || s.Status == Error })
	if i < 0 {
		return nil
	}
	return t.Setup[i]
}

// Explain is all the information about a scenario that did not pass: each step that broke it in full, and where to
// find more.
func Explain(s *Scenario) string {
	var parts []string
	for i, step := range s.Steps {
		if step.Status == Failed || step.Status == Error || step.Status == Known || wasNotJudged(step) {
			parts = append(parts, Numbered(s, i)+": "+explainStep(step))
		}
	}
	steps := strings.Join(parts, "\n\n")
	if own := strings.TrimSpace(s.Message); own != "" && !saidAlready(s, own, steps) {
		parts = append([]string{own}, parts...)
	}
	if notes := Notes(s); len(notes) > 0 {
		parts = append(parts, strings.Join(notes, "\n"))
	}
	if about := aboutScenario(s); about != "" {
		parts = append(parts, about)
	}
	return strings.Join(parts, "\n\n")
}

// Notes returns the notes of a scenario's steps, one line each.
func Notes(s *Scenario) []string {
	var all []string
	for i, step := range s.Steps {
		if step.Note != "" {
			all = append(all, fmt.Sprintf("note: %s: %s: %s", Numbered(s, i), stepTitle(step), plain.OneLine(step.Note)))
		}
	}
	return all
}

// saidAlready reports whether the scenario's own message only repeats what the Recorder took from a step.
func saidAlready(s *Scenario, own, steps string) bool {
	decisive := DecisiveStep(s)
	return decisive != nil && (strings.Contains(steps, own) || own == DecisiveLine(s, decisive))
}

// DecisiveLine says in one line what broke a scenario: the step that decided it, and how many others did not pass.
func DecisiveLine(s *Scenario, decisive *Step) string {
	more := -1
	for _, step := range s.Steps {
		if step.Status == Failed || step.Status == Error || step.Status == Known {
			more++
		}
	}
	line := TitledMessage(decisive)
	if more > 0 {
		line += fmt.Sprintf(" (and %s did not pass)", plain.Plural(more, "other step"))
	}
	return line
}

// wasNotJudged reports whether the scenario continued without a step because something that the step needs was
// missing.
func wasNotJudged(s *Step) bool { return s.Status == NotRun && strings.HasPrefix(s.Message, NotJudged) }

func aboutScenario(s *Scenario) string {
	var lines []string
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, fmt.Sprintf("%-13s %s", name+":", value))
		}
	}
	add("scenario", Location(s))
	add("requirements", strings.Join(s.Covers, ", "))
	add("known issue", s.KnownIssue)
	add("namespace", s.Namespace)
	add("artifacts", artifactsOf(s))
	return strings.Join(lines, "\n")
}

// artifactsOf returns the folder of a scenario's artifacts, and how many there are.
func artifactsOf(s *Scenario) string {
	switch {
	case len(s.Artifacts) == 0:
		return ""
	case s.Folder == "":
		return strings.Join(s.Artifacts, ", ") // recorded by an older version
	default:
		return fmt.Sprintf("%s (%s)", s.Folder, plain.Plural(len(s.Artifacts), "file"))
	}
}

// explainStep is a step's title with its account.
func explainStep(s *Step) string { return TitleWithVerb(s) + account(s) }

// TitleWithVerb is a step's name with its verb.
func TitleWithVerb(s *Step) string {
	title := stepTitle(s)
	if s.Verb == "" || s.Name == "" || strings.HasPrefix(title, s.Verb) {
		return title
	}
	return fmt.Sprintf("%s (%s)", title, s.Verb)
}

// ExplainSetup is all the information about a setup step that broke.
func ExplainSetup(run *Run, t *Track, s *Step) string {
	if s.Status.OrNotRun() == NotRun {
		return whySetupNotRun(run, t, s)
	}
	return strings.TrimLeft(account(s), "\n")
}

// account is where and how long a step ran, with its message, evidence and attempts.
func account(s *Step) string {
	var b strings.Builder
	b.WriteString(plain.Prefixed("\nat ", s.Position) + plain.Prefixed("\ncluster ", s.State))
	if !s.Finished.IsZero() && !s.Started.IsZero() {
		fmt.Fprintf(&b, "\nafter %s%s", plain.Duration(s.Duration()), sharedTime(s))
	}
	if message := strings.Trim(s.Message, "\n"); message != "" {
		b.WriteString("\n\n" + message)
	}
	if evidence := strings.Trim(s.Evidence, "\n"); evidence != "" && !strings.Contains(s.Message, evidence) {
		b.WriteString("\n\nseen:\n" + plain.Indent(evidence, "  "))
	}
	if len(s.Attempts) > 0 {
		b.WriteString("\n\nattempts:")
		for _, line := range AttemptLines(s) {
			b.WriteString("\n  " + line)
		}
	}
	return b.String()
}

// AttemptLines returns a line for each attempt of a step: when it ended, and its result. Attempts in a row that differ
// only in numbers, such as times and ports, are one line and their count.
func AttemptLines(s *Step) []string {
	after := func(a Attempt) string { return fmt.Sprintf("after %-7s", plain.Duration(max(a.At.Sub(s.Started), 0))) }
	without := func(a Attempt) string { return numbers.ReplaceAllString(plain.FirstLine(a.Outcome), "0") }
	var lines []string
	for i := 0; i < len(s.Attempts); {
		first, next := s.Attempts[i], i+1
		for next < len(s.Attempts) && without(s.Attempts[next]) == without(first) {
			next++
		}
		lines = append(lines, after(first)+" "+plain.FirstLine(first.Outcome))
		if more := next - i - 1; more > 0 {
			last := s.Attempts[next-1]
			lines = append(lines, fmt.Sprintf("%s the last of %d more that differ only in numbers: %s", after(last), more,
				plain.FirstLine(last.Outcome)))
		}
		i = next
	}
	return lines
}

var numbers = regexp.MustCompile("[0-9]+")

// sharedTime says how long a step waited for other scenarios, and how long their shared transition took.
func sharedTime(s *Step) string {
	text := ""
	if s.Crossing > 0 {
		text += fmt.Sprintf(", and %s of the transition", plain.Duration(time.Duration(s.Crossing)))
	}
	if waited := time.Duration(s.Waited); waited >= time.Millisecond {
		text += fmt.Sprintf(", and %s waiting for other scenarios", plain.Duration(waited))
	}
	return text
}

// Location is the file and the line of a scenario; "" for one that is in no file.
func Location(s *Scenario) string {
	if s.File == "" || s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}
