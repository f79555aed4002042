package upgrades

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

func sample() *Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	broken := &Finding{
		Severity: Breaks, Check: "create", Kind: "NetworkPolicy.networking.k8s.io", State: 1, States: []int{1},
		Hop:     "1.35.4 -> 1.36.3",
		Objects: []Object{{"NetworkPolicy shop/a", "a.yaml:1"}, {"NetworkPolicy shop/b", "a.yaml:9"}},
		What:    "its manifest would not be accepted in a new cluster", Words: "422 Invalid: spec.cidr: <no> | `x`\nmore\x01",
		Flips: []string{"StrictIPCIDRValidation turns on"},
		Back:  "the rollback mends it", Advice: "change the manifest",
	}
	unjudged := &Finding{
		Severity: Unjudged, Check: "creation", Kind: "Order.example.com", States: []int{0}, Hop: "1.35.4",
		Objects: []Object{{"Order first", "b.yaml:3"}},
		What:    "it was not surveyed", Words: "not served",
	}
	return &Report{
		Head: reports.Head{Format: 1, Started: at, Finished: at.Add(20 * time.Second)}, Objects: 5, Surveyed: 4, Requests: 99,
		Notes: []string{"namespace shop was made"},
		Path: []*State{
			{Name: "1.35.4", Way: Start, Reached: true, Transition: 2.5, Survey: 10},
			{
				Name: "1.36.3", Way: Up, Reached: true, Transition: 2, Survey: 10,
				Flips: []string{"StrictIPCIDRValidation turns on"},
			},
			{Name: "1.35.4", Way: Back, Reached: true, Transition: 2, Survey: 10},
		},
		Findings: []*Finding{broken, unjudged},
		Checks: []*Check{
			{Name: "create", Kind: "NetworkPolicy.networking.k8s.io", Severity: Breaks, Message: broken.What},
			{Name: "label", Kind: "ConfigMap"},
			{Name: "update", Kind: "ConfigMap", Severity: Before, Message: "immutable"},
		},
		Matrix: []*Row{
			{Kind: "ConfigMap", Objects: 2, Cells: []Cell{{Good: 2}, {Good: 2}, {Good: 2}}},
			{Kind: "NetworkPolicy.networking.k8s.io", Objects: 2, Cells: []Cell{{Good: 2}, {Breaks: 2}, {Good: 2}}},
		},
	}
}

func TestReports(t *testing.T) {
	junit, err := JUnit(sample())
	golden.Must(t, err)
	for name, got := range map[string]string{
		"report.txt": Text(sample()), "report.md": Markdown(sample()),
		"junit.xml": string(junit),
	} {
		golden.Check(t, filepath.Join("testdata", name+".golden"), got)
	}
}

// Every report is valid JUnit, also one that was not finished.
func TestJUnitIsValid(t *testing.T) {
	for name, change := range map[string]func(*Report){
		"finished":   func(*Report) {},
		"unfinished": func(r *Report) { r.Finished = time.Time{} },
		"planned": func(r *Report) {
			*r = Report{Head: reports.Head{Started: r.Started}, Path: []*State{{Name: "1.35.4"}, {Name: "1.36.3"}}}
		},
		"never started":     func(r *Report) { r.Started, r.Finished = time.Time{}, time.Time{} },
		"a very short one":  func(r *Report) { r.Finished = r.Started.Add(1234 * time.Nanosecond) },
		"a clock set back":  func(r *Report) { r.Finished = r.Started.Add(-time.Hour) },
		"something changes": func(r *Report) { r.Checks[1].Severity, r.Checks[1].Message = Changes, "another default" },
	} {
		t.Run(name, func(t *testing.T) {
			r := sample()
			change(r)
			text, err := JUnit(r)
			golden.Must(t, err)
			for _, problem := range reporttest.CheckJUnit(text, string(Changes)) {
				t.Errorf("%s in:\n%s", problem, text)
			}
		})
	}
}

// Reading upgrade.json returns everything that was written.
func TestJSONIsReadBack(t *testing.T) {
	text, err := JSON(sample())
	golden.Must(t, err)
	var back Report
	golden.Must(t, json.Unmarshal(text, &back))
	if !reflect.DeepEqual(&back, sample()) {
		t.Errorf("got %s", text)
	}
}

func TestExitCode(t *testing.T) {
	well := func(change func(*Report)) *Report {
		r := sample()
		r.Findings = nil
		change(r)
		return r
	}
	for _, test := range []struct {
		name string
		r    *Report
		want int
	}{
		{"something breaks", sample(), 1},
		{"all is well", well(func(*Report) {}), 0},
		{"not judged", well(func(r *Report) { r.Findings = sample().Findings[1:] }), 3},
		{"the path was not gone to its end", well(func(r *Report) { r.Path[2].Reached = false }), 3},
		{"nothing was surveyed", well(func(r *Report) { r.Surveyed = 0 }), 3},
		{"interrupted", well(func(r *Report) { r.Interrupted = true }), 130},
	} {
		if got := test.r.ExitCode(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// The error that ended a rehearsal is a finding after what breaks. It is never a success, and an interrupt is no error.
func TestFail(t *testing.T) {
	r := sample()
	r.Path[2].Reached = false
	r.Fail(errors.New("start lws: <no>\x1b[31m"))
	r.Fail(errors.New("another"))
	if r.Failure != "start lws: <no>\x1b[31m" || len(r.Findings) != 3 || r.ExitCode() != 1 {
		t.Fatalf("%q, %d findings, exit code %d", r.Failure, len(r.Findings), r.ExitCode())
	}
	want := "NOT JUDGED  1.36.3 -> 1.35.4  rehearsal: it failed before its end\n    seen: start lws: <no>\n"
	for text, want := range map[string]string{
		Text(r): "\n" + want, Markdown(r): "start lws: &lt;no>", findingText(r.Findings[1]): "it failed before its end",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(Markdown(r), "0 objects") {
		t.Errorf("it counts objects that it is not about:\n%s", Markdown(r))
	}
	junit, err := JUnit(r)
	if err != nil || !strings.Contains(string(junit), `name="run rehearsal"`) {
		t.Errorf("%v: no case in %s", err, junit)
	}
	well := sample()
	well.Findings = nil
	if well.Fail(errors.New("delete the cluster")); well.ExitCode() != 3 || well.Findings[0].Line() !=
		"NOT JUDGED  rehearsal: it failed before its end" {
		t.Errorf("exit code %d: %s", well.ExitCode(), well.Findings[0].Line())
	}
	stopped := sample()
	stopped.Interrupted = true
	if stopped.Fail(context.Canceled); stopped.Failure != "" || len(stopped.Findings) != 2 {
		t.Errorf("an interrupt is an error: %q", stopped.Failure)
	}
}

func TestSentenceOfAPart(t *testing.T) {
	for want, change := range map[string]func(*Report){
		"1 not judged; 4 checked": func(*Report) {},
		"1 not judged":            func(r *Report) { r.Surveyed = r.Objects },
		"; interrupted":           func(r *Report) { r.Interrupted = true },
		"; it had not finished when this was written":   func(r *Report) { r.Finished = time.Time{} },
		"4 checked; 2 of 3 states reached; interrupted": func(r *Report) { r.Interrupted, r.Path[2].Reached = true, false },
	} {
		r := sample()
		if change(r); !strings.HasSuffix(r.Sentence(), want) {
			t.Errorf("%q does not end with %q", r.Sentence(), want)
		}
	}
}

// On a narrow terminal, the text is wrapped, and the table becomes a line for each kind and state.
func TestTextInColumns(t *testing.T) {
	r := sample()
	r.Findings[0].Words = "\x1b[2J" + strings.Repeat("a message ", 12)
	text := TextIn(r, 60)
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 60 {
			t.Errorf("a line has %d columns: %s", len(line), line)
		}
	}
	want := "NetworkPolicy.networking.k8s.io, objects: 2\n    1.35.4: 2 ok\n    1.36.3: 2 BREAKS\n    1.35.4: 2 ok\n"
	if !strings.Contains(text, want) || strings.Contains(text, "kind  ") || strings.Contains(text, "\x1b") {
		t.Errorf("it lacks %q, or has a table or control characters:\n%s", want, text)
	}
	if wide := TextIn(r, 200); !strings.Contains(wide, "\n1 other kind                     2        ok ") {
		t.Errorf("it has no table:\n%s", wide)
	}
}

// Objects of equal kinds and names, but of different API groups, are different objects. A finding about dependents is
// about the object that they belong to.
func TestCountOfEqualNames(t *testing.T) {
	web := []Object{{Name: "Service shop/web", Place: "live cluster"}}
	r := &Report{Findings: []*Finding{
		{Severity: Breaks, Kind: "Service", Objects: web},
		{Severity: Breaks, Kind: "EndpointSlice.discovery.k8s.io of Service", Objects: web},
		{Severity: Breaks, Kind: "Service.serving.knative.dev", Objects: web},
	}}
	if n := r.Count(Breaks); n != 2 {
		t.Errorf("%d objects break, want 2", n)
	}
}

func TestHop(t *testing.T) {
	r := &Report{Path: []*State{{Name: "1.34.4"}, {Name: "1.35.4"}}}
	if got := []string{r.Hop(0), r.Hop(1)}; !slices.Equal(got, []string{"1.34.4", "1.34.4 -> 1.35.4"}) {
		t.Errorf("got %q", got)
	}
}
