package upgrades

import (
	"encoding/json"
	"path/filepath"
	"reflect"
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
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range reporttest.CheckJUnit(text, string(Changes)) {
				t.Errorf("%s in:\n%s", problem, text)
			}
		})
	}
}

// Reading upgrade.json returns everything that was written.
func TestJSONIsReadBack(t *testing.T) {
	text, err := JSON(sample())
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
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
