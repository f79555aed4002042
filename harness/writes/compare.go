package writes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// compare returns what the answer means for the step.
func (w *Writer) compare(ctx context.Context, op *operation, step *scenarios.Step, a answer) Verdict {
	want := wanted(step)
	switch {
	case a.doubt != "":
		message := fmt.Sprintf("%s was %s, but it is unknown whether anything was stored: %s", op, a.outcome, a.doubt)
		if a.outcome == Rejected {
			message += "\nthe rejection in full:\n" + describeStatus(a.status)
		}
		return Verdict{Status: reports.Error, Message: message}
	case a.stored && a.outcome == Accepted:
		return Verdict{Status: reports.Failed, Message: fmt.Sprintf("%s was accepted as a dry run, but it was stored%s",
			op, orNothing(": ", a.note))}
	case a.outcome == Unknown:
		until := " before the timeout"
		if a.final {
			until = ""
		}
		return Verdict{Status: reports.Error, Message: fmt.Sprintf("%s could not be judged: it is unknown whether it was "+
			"accepted or rejected%s: %v", op, until, explained(a.err))}
	case a.outcome == Rejected && want == nil:
		return Verdict{
			Status:   reports.Failed,
			Message:  fmt.Sprintf("%s was rejected, but should have been accepted: %s", op, describeStatus(a.status)),
			Evidence: describeStatus(a.status),
			gone:     a.status.Code == http.StatusNotFound,
		}
	case a.outcome == Rejected:
		return compareRejection(op, step.Expect, a)
	case want != nil:
		return wronglyAccepted(op, *want, a)
	}
	return w.compareAccepted(ctx, op, step, a)
}

func compareRejection(op *operation, expect *scenarios.Expect, a answer) Verdict {
	v := Verdict{Status: reports.Passed, Evidence: describeStatus(a.status)}
	if a.note != "" {
		v.Evidence += "\n" + a.note
	}
	if a.stored {
		v.Status = reports.Failed
		v.Message = fmt.Sprintf("%s was rejected, but it was stored%s: %s", op, orNothing(": ", a.note),
			describeStatus(a.status))
		if a.object != nil {
			v.Message += "\nstored object:\n" + render(a.object.Object)
		}
		return v
	}
	problems, met := differences(*expect.Rejected, a.status)
	if a.notServed && !asksForNotFound(expect.Rejected) {
		problems = append(problems, "kind:\n  want a rejection of the object\n"+
			"  got  its kind is not served, so nothing judged the object (to expect this, set code: 404)")
	}
	if met != "" {
		v.Evidence += "\nmet: " + met
	}
	problems = append(problems, missing(expect.Warnings, a.warnings)...)
	if len(problems) > 0 {
		v.Status = reports.Failed
		v.Message = fmt.Sprintf("%s was rejected, but not as expected (%s):\n%s\nthe rejection in full:\n%s",
			op, strings.Join(titles(problems), ", "), strings.Join(problems, "\n"), describeStatus(a.status))
	}
	return v
}

func wronglyAccepted(op *operation, want scenarios.Rejection, a answer) Verdict {
	v := Verdict{Status: reports.Failed}
	v.Message = fmt.Sprintf("%s was accepted, but should have been rejected (expected %s)", op, describeRejection(want))
	if a.object != nil {
		v.Object = a.object.Object
		v.Evidence = render(a.object.Object)
		title := "stored object:"
		switch {
		case op.removes:
			title = "the object that existed:"
		case len(op.dryRun) > 0:
			title = "object as it would have been stored (dry run):"
		}
		v.Message += "\n" + title + "\n" + v.Evidence
	}
	return v
}

func (w *Writer) compareAccepted(ctx context.Context, op *operation, step *scenarios.Step, a answer) Verdict {
	v := Verdict{Status: reports.Passed, Evidence: op.String() + " was accepted"}
	if a.object != nil {
		v.Object = a.object.Object
	}
	if len(a.warnings) > 0 {
		v.Evidence += ", with warnings:\n- " + strings.Join(a.warnings, "\n- ")
	}
	if op.settle != nil && len(op.dryRun) == 0 {
		if err := op.settle(ctx, w, op); err != nil {
			v.Status, v.Message = reports.Error, fmt.Sprintf("%s was accepted, but: %v", op, err)
			if isStillThere(err) {
				v.Status = reports.Failed
			}
			return v
		}
	}
	expect := step.Expect
	if expect == nil {
		expect = &scenarios.Expect{}
	}
	if a.lost && len(expect.Warnings) > 0 {
		v.Status = reports.Error
		v.Message = op.String() + " was accepted, but the API server's answer with its warnings was lost"
		return v
	}
	return w.compareObject(op, step, expect, a, v)
}

func (w *Writer) compareObject(op *operation, step *scenarios.Step, expect *scenarios.Expect, a answer,
	v Verdict,
) Verdict {
	problems, note := w.compareSent(op, step, a)
	if a.lost && len(problems) > 0 {
		v.Status = reports.Error
		v.Message = fmt.Sprintf("%s was accepted, but the API server's answer was lost, and in the object as it was then: %s",
			op, strings.Join(problems, "\n"))
		return v
	}
	v.Evidence += note
	problems = append(problems, missing(expect.Warnings, a.warnings)...)
	unknown := -1                            // the problem that the expression could not be evaluated
	unlike, differences := -1, []string(nil) // the problem that the object does not match, and each difference
	if (expect.Match != nil || expect.CEL != "") && v.Object == nil {
		problems = append(problems, "no object was returned to compare")
	} else {
		if expect.Match != nil {
			if differences = w.Differences(expect.Match, v.Object); len(differences) > 0 {
				unlike = len(problems)
				problems = append(problems, notAsExpected+matching.Lines(differences))
			}
		}
		if expect.CEL != "" {
			holds, err := w.Holds(step, v.Object)
			switch {
			case err != nil:
				if missing := (*expressions.MissingError)(nil); !errors.As(err, &missing) {
					unknown = len(problems)
				}
				problems = append(problems, fmt.Sprintf("cel %s: %v", expect.CEL, err))
			case !holds:
				problems = append(problems, fmt.Sprintf("cel: %s is false for the returned object:\n%s", expect.CEL,
					render(v.Object)))
			}
		}
	}
	if a.lost && len(problems) > 0 {
		v.Status = reports.Error
		v.Message = fmt.Sprintf("%s was accepted, but the API server's answer was lost, and later the object is: %s",
			op, strings.Join(problems, "\n"))
		return v
	}
	if len(problems) > 0 {
		v.Status = reports.Failed
		v.Message = fmt.Sprintf("%s was accepted, but: %s", op, strings.Join(problems, "\n"))
	}
	if unknown >= 0 && len(problems) == 1 {
		v.Status = reports.Error
	}
	var each []reports.Outcome
	add := func(status reports.Status, text string) {
		each = append(each, reports.Outcome{Status: status, Message: fmt.Sprintf("%s was accepted, but: %s", op, text)})
	}
	for i, problem := range problems {
		switch i {
		case unknown:
			add(reports.Error, problem)
		case unlike: // each difference is a problem
			for _, difference := range differences {
				add(reports.Failed, notAsExpected+difference)
			}
		default:
			add(reports.Failed, problem)
		}
	}
	v.Problems = reports.Several(each)
	return v
}

// notAsExpected is before the differences between the returned object and the wanted one.
const notAsExpected = "the returned object is not as expected:\n"

// orNothing returns the text with something before it; "" if there is no text.
func orNothing(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// titles returns what the problems are about: the text before each one's first colon.
func titles(problems []string) []string {
	var all []string
	for _, problem := range problems {
		title, _, _ := strings.Cut(problem, ":")
		all = append(all, title)
	}
	return all
}

// missing returns the wanted warnings that did not occur.
func missing(want []scenarios.Text, got []string) []string {
	var problems []string
	for _, text := range want {
		// As in a rejection: a text that is not allowed must be in none of them.
		if !anyLike(text, got) || !allLack(text.Lacks, got) {
			problems = append(problems, fmt.Sprintf("warning:\n  want one that %s\n  got  %s", Describe(text),
				orNone(strings.Join(got, "; "))))
		}
	}
	return problems
}

// render returns an object as YAML, without the managed fields.
func render(object map[string]any) string {
	shown := map[string]any{}
	for key, value := range object {
		if metadata, ok := value.(map[string]any); ok && key == "metadata" {
			pruned := map[string]any{}
			for k, v := range metadata {
				if k != "managedFields" {
					pruned[k] = v
				}
			}
			value = pruned
		}
		shown[key] = value
	}
	text, err := yaml.Marshal(shown)
	if err != nil {
		return fmt.Sprintf("(can't be shown as YAML: %v)", err)
	}
	return strings.TrimRight(string(text), "\n")
}
