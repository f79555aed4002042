package writes

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/served"
)

// Single is the result of a write that was sent once, as any client would send it.
type Single struct {
	Outcome Outcome
	// Object that was returned when the write was accepted.
	Object *unstructured.Unstructured
	// Made is what was made, or may have been; nil if nothing was.
	Made *Made
	// Problem says why the outcome is not as the step expects, or is unknown; "" when it is as expected.
	Problem string
	// Alike is the same for problems that differ only in names and numbers.
	Alike string
}

// Once sends a write of a kind that was found before. It does not look at what is stored, and does not send it again.
func (w *Writer) Once(ctx context.Context, request Request, kind served.Kind) Single {
	op, err := w.prepare(request)
	if err != nil {
		return Single{Problem: err.Error()}
	}
	op.kind = &kind
	object, err := op.send(withUser(ctx, request.Step.As), op.api(w), op)
	a := judged(object, err, request.Step)
	s := Single{Outcome: a.outcome, Object: a.object}
	if made, ok := op.made(w, a); ok {
		s.Made = &made
	}
	name := op.name
	if a.object != nil {
		name = a.object.GetName()
	}
	want := wanted(request.Step)
	switch {
	case a.outcome == Unknown:
		s.Problem = WithoutAddress(a.err)
	case a.outcome == Rejected && want == nil:
		s.Problem = WithoutAddress(a.err)
	case a.outcome == Rejected:
		if problems, _ := differences(*want, a.status); len(problems) > 0 {
			s.Problem = fmt.Sprintf("rejected, but not as expected (%s): %s", strings.Join(titles(problems), ", "),
				WithoutAddress(a.err))
		}
	case want != nil:
		s.Problem = fmt.Sprintf("%s was accepted, but should have been rejected (expected %s)",
			op, describeRejection(*want))
	}
	s.Alike = Alike(s.Problem, name)
	return s
}

var numbers = regexp.MustCompile(`[0-9]+`)

// Alike returns a text without what distinguishes objects and requests: the name, and all numbers.
func Alike(text, name string) string {
	if name != "" {
		text = strings.ReplaceAll(text, name, "*")
	}
	return numbers.ReplaceAllString(text, "0")
}

// WithoutAddress returns why a request failed, without the address that it was sent to.
func WithoutAddress(err error) string {
	var transport *url.Error
	switch status, answered := StatusOf(err); {
	case answered:
		return short(fmt.Sprintf("%d %s: %s", status.Code, status.Reason, status.Message))
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &transport):
		return transport.Err.Error()
	}
	return short(err.Error())
}

// longest is the maximum length of a reason, of which there may be many.
const longest = 300

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}
