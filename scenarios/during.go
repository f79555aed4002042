package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Requests are a load: requests that are sent at a rate while a step runs. Exactly one of create, patch and read is
// set.
type Requests struct {
	// Name of the load in reports, unique in the step.
	Name string `json:"name" fixed:"true"`
	// Create creates an object with each request: give it a generateName, or put ${index} into its name.
	Create Object `json:"create,omitempty"`
	// Patch changes an object: always the same one, or a different one each time with ${index} in its name.
	Patch *Patch `json:"patch,omitempty"`
	// Read gets the named object, or lists the selected ones.
	Read *Selection `json:"read,omitempty"`
	// As is the user who sends the requests. Default: the administrator.
	As *User `json:"as,omitempty"`
	// Rate is the number of requests per second, at most 100. Default: 10. At most 16 requests are sent concurrently.
	Rate *float64 `json:"rate,omitempty" fixed:"true"`
	// For is the minimum duration of the load, for a step that takes no time, such as kill.
	For Duration `json:"for,omitempty" fixed:"true"`
	// Timeout of one request; without an answer in that time it fails. Default: 5s.
	Timeout Duration `json:"timeout,omitempty" fixed:"true"`
	// Expect is the expected answer to each request. Default: accepted.
	Expect *LoadExpect `json:"expect,omitempty"`
	// Allowed are the limits beyond which the step fails. Default: no limits.
	Allowed *Limits `json:"allowed,omitempty" fixed:"true"`
}

// LoadExpect is the expected answer to each request of a load.
type LoadExpect struct {
	// Rejected: each answered request is rejected like this.
	Rejected *Rejection `json:"rejected"`
}

// Limits of a load. A request fails if it has no answer, or an answer that does not concern the request, such as a 5xx.
type Limits struct {
	// Failures is how many requests may fail.
	Failures *int `json:"failures,omitempty"`
	// FailurePercent is the percentage of requests that may fail.
	FailurePercent *float64 `json:"failurePercent,omitempty"`
	// Outage is the longest time without an answer: from the last answer before a request failed to the first one after
	// it.
	Outage Duration `json:"outage,omitempty"`
	// Latency limits the response times. The scenario then has a cluster to itself.
	Latency *Latency `json:"latency,omitempty"`
}

// Latency limits the response times of a load. Failed requests do not count.
type Latency struct {
	// P50 is the maximum of the fastest 50 % of answers.
	P50 Duration `json:"p50,omitempty"`
	// P90 is the maximum of the fastest 90 % of answers.
	P90 Duration `json:"p90,omitempty"`
	// P99 is the maximum of the fastest 99 % of answers.
	P99 Duration `json:"p99,omitempty"`
	// Max is the maximum of all answers.
	Max Duration `json:"max,omitempty"`
}

// maxRate is the maximum number of requests per second of one load.
const maxRate = 100

// Request returns the i-th request of the load as a step: a create, a patch or, for a read, an eventually with the same
// selection.
func (l *Requests) Request(i int64) Step {
	step := Step{Name: l.Name, Create: l.Create, Patch: l.Patch, As: l.As, Index: &i}
	if l.Read != nil {
		step.Eventually = &Assertion{Selection: *l.Read}
	}
	if l.Expect != nil {
		step.Expect = &Expect{Rejected: l.Expect.Rejected}
	}
	return step
}

// About returns a reference with the kind of the requests' objects. For a create, it has no name and no namespace.
func (l *Requests) About() ObjectReference {
	switch {
	case l.Patch != nil:
		return l.Patch.ObjectReference
	case l.Read != nil:
		return l.Read.ObjectReference
	}
	apiVersion, _ := l.Create["apiVersion"].(string)
	kind, _ := l.Create["kind"].(string)
	return ObjectReference{APIVersion: apiVersion, Kind: kind}
}

// checkDuring checks the loads of a step.
func checkDuring(v *validator, s *Scenario, i int, n *yamltree.Node) {
	step, names := &s.Spec.Steps[i], map[string]bool{}
	if len(step.During) > 0 && step.Kill != nil && step.Kill.Silences() && !slices.ContainsFunc(s.Spec.Steps[i+1:],
		answersAgain(*step.Kill)) {
		v.At(n.Key("during"), "add its restart or a transition after it",
			"without %s acknowledged writes cannot be read back", step.Kill)
	}
	if len(step.During) > 0 && step.Breaks() != nil {
		v.At(n.Key("during"), "", "a cluster that is expected to break cannot answer a load")
	}
	for i := range step.During {
		l, at := &step.During[i], n.At("during", i)
		if strings.TrimSpace(l.Name) == "" || strings.ContainsAny(l.Name, "\n\r") {
			v.At(at.At("name"), "", "the name of a load must be a single-line string")
		}
		if names[l.Name] {
			v.At(at.At("name"), "", "an earlier load of the step has the same name, %q", words.Short(l.Name))
		}
		names[l.Name] = true
		checkLoad(v, l, at)
	}
}

// loadFigures lists the figures of a load that outputs can use.
func loadFigures() []string {
	return []string{"sent", "accepted", "rejected", "failed", "lost", "outage", "p50", "p99", "max"}
}

// checkFigures checks the names of loads, and of their figures, in the outputs of a step.
func checkFigures(v *validator, step *Step, n *yamltree.Node) {
	var names []string
	for i := range step.During {
		names = append(names, step.During[i].Name)
	}
	for _, name := range clusters.SortedKeys(step.Outputs) {
		at, expression := n.At(name), step.Outputs[name]
		for _, u := range v.expressions.Check(expression).Uses {
			message, hint := "", ""
			switch {
			case u.Variable != "loads" || u.Field == "":
			case !slices.Contains(names, u.Field):
				message = fmt.Sprintf("no load of this step is called %q", words.Short(u.Field))
				hint = words.Suggest(u.Field, names, "its loads")
			case u.Inner != "" && !slices.Contains(loadFigures(), u.Inner):
				message = fmt.Sprintf("a load has no figure %q", words.Short(u.Inner))
				hint = words.Suggest(u.Inner, loadFigures(), "it has")
			}
			if message != "" {
				line, column := at.LocateIn(expression, "", u.Line, u.Column)
				v.Within(at, line, column, hint, message)
			}
		}
	}
}

// answersAgain returns a function that reports whether the API server answers again after a step.
func answersAgain(killed ComponentReference) func(Step) bool {
	return func(s Step) bool {
		return s.verb().revives && (s.Restart == nil || s.Restart.Component == killed.Component)
	}
}

func checkLoad(v *validator, l *Requests, n *yamltree.Node) {
	var requests []string
	for _, name := range []string{"create", "patch", "read"} {
		if n.Get(name) != nil {
			requests = append(requests, name)
		}
	}
	if len(requests) != 1 {
		v.At(n, "one of create, patch and read; give more loads for more", "a load sends one kind of "+
			"request; this one has %d",
			len(requests))
		return
	}
	if l.Rate != nil && (*l.Rate <= 0 || *l.Rate > maxRate) {
		v.At(n.At("rate"), "", "want a rate above 0 and at most %d requests per second, not %v", maxRate, *l.Rate)
	}
	v.user(l.As, n.At("as"))
	request := l.Request(0)
	switch {
	case l.Read != nil:
		v.selection(*l.Read, n.Get("read"))
		for _, name := range []string{"expect", "as"} {
			if n.Get(name) != nil {
				v.At(n.Key(name), "", "a read has no %s: the administrator reads", name)
			}
		}
	default:
		request.verb().check(v, stepCheck{step: &request, node: n.Get(requests[0]), accepted: l.Expect == nil})
		checkManyNames(v, l, n.Get("create"))
	}
	if l.Expect != nil && l.Expect.Rejected != nil {
		v.rejection(l.Expect.Rejected, n.Get("expect").At("rejected"))
	}
	if l.Allowed != nil {
		checkAllowed(v, l.Allowed, n.Get("allowed"))
	}
}

// checkManyNames checks that each request of a create can create a separate object. Requests that must be rejected
// create nothing and are not checked.
func checkManyNames(v *validator, l *Requests, n *yamltree.Node) {
	if l.Create != nil && l.Expect == nil && !manyNames(v, l.Create) {
		v.At(n.At("metadata"), fmt.Sprintf("give it a generateName, or a name such as %q", "load-${index}"),
			"only the first request could create this object")
	}
}

// manyNames reports whether each copy of an object has its own name: with a generateName, or with ${index} in its name
// or namespace.
func manyNames(v *validator, o Object) bool {
	metadata, _ := o["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	parts, _ := expressions.Split(name + " " + namespace)
	counted := slices.ContainsFunc(parts, func(p expressions.Part) bool {
		return p.IsExpression && v.uses(p.Text, "index")
	})
	_, generated := metadata["generateName"]
	return generated && name == "" || counted
}

func checkAllowed(v *validator, a *Limits, n *yamltree.Node) {
	switch {
	case len(n.Entries) == 0:
		v.At(n, "give failures, failurePercent, outage or latency", "no limit is given")
	case a.Failures != nil && *a.Failures < 0:
		v.At(n.At("failures"), "", "want a number of requests, not %d", *a.Failures)
	case a.FailurePercent != nil && (*a.FailurePercent < 0 || *a.FailurePercent > 100):
		v.At(n.At("failurePercent"), "", "want 0 to 100, not %v", *a.FailurePercent)
	case a.Latency != nil && len(n.Get("latency").Entries) == 0:
		v.At(n.Get("latency"), "give p50, p90, p99 or max", "no limit is given")
	}
}
