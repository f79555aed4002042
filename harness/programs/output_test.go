package programs

import (
	"context"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// What is cut off an output decides nothing, and what is kept only what is true whatever follows.
func TestOutputThatWasCut(t *testing.T) {
	const kept = "line 1\nok\nsecret\nline 2"
	all := kept + " and the end"
	for name, test := range map[string]struct {
		want  scenarios.Text
		whole bool   // nothing was cut off
		is    string // equal, different, unknown
	}{
		"contains":                   {scenarios.Text{Contains: "ok"}, false, "equal"},
		"contains later":             {scenarios.Text{Contains: "and the end"}, false, "unknown"},
		"contains across the cut":    {scenarios.Text{Contains: "line 2 and"}, false, "unknown"},
		"does not contain":           {scenarios.Text{Contains: "and the end"}, true, "different"},
		"lacks":                      {scenarios.Text{Lacks: "panic"}, false, "unknown"},
		"lacks what is there":        {scenarios.Text{Lacks: "secret"}, false, "different"},
		"lacks, whole":               {scenarios.Text{Lacks: "panic"}, true, "equal"},
		"equals the kept part":       {scenarios.Text{Equals: kept}, false, "different"},
		"equals, whole":              {scenarios.Text{Equals: kept}, true, "equal"},
		"equals perhaps":             {scenarios.Text{Equals: all}, false, "unknown"},
		"equals another of its size": {scenarios.Text{Equals: strings.ToUpper(all)}, false, "different"},
		"matches":                    {scenarios.Text{Matches: "^line [0-9]"}, false, "equal"},
		"matches at the end":         {scenarios.Text{Matches: "line 2$"}, false, "unknown"},
		"matches a line":             {scenarios.Text{Matches: "(?m)^ok$"}, false, "equal"},
		"matches all of it":          {scenarios.Text{Matches: "(?s)^line.*"}, false, "unknown"},
		"matches nothing":            {scenarios.Text{Matches: "panic"}, false, "unknown"},
		"matches nothing, whole":     {scenarios.Text{Matches: "panic"}, true, "different"},
		"one unknown, one wrong":     {scenarios.Text{Contains: "end", Lacks: "secret"}, false, "different"},
		"one unknown, one right":     {scenarios.Text{Contains: "ok", Lacks: "panic"}, false, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			output := Output{Kept: kept}
			if !test.whole {
				output.Cut = len(all) - len(kept)
			}
			differs, undecided := Ended{Stderr: output}.Compare(&scenarios.CommandExpect{Stderr: &test.want})
			is := "equal"
			switch {
			case differs != "" && undecided != "":
				is = "both"
			case differs != "":
				is = "different"
			case undecided != "":
				is = "unknown"
			}
			if is != test.is {
				t.Errorf("%s, want %s: %s%s", is, test.is, differs, undecided)
			}
		})
	}
}

// A difference that is certain is reported, whatever is unknown besides it.
func TestCutOutputOfAnotherExitCode(t *testing.T) {
	ended := Ended{Code: 1, Stdout: Output{Kept: "x", Cut: 1}}
	wanted := &scenarios.CommandExpect{Stdout: &scenarios.Text{Lacks: "panic"}}
	if differs, undecided := ended.Compare(wanted); differs != "expected exit code 0, got 1" || undecided != "" {
		t.Errorf("%q, %q", differs, undecided)
	}
	ended.Code = 0
	if _, undecided := ended.Compare(wanted); undecided !=
		`stdout was cut after 1 bytes: it is unknown whether all of it lacks "panic"` {
		t.Errorf("%q", undecided)
	}
}

func TestRunKeepsTheBeginning(t *testing.T) {
	long := strings.Repeat("x", maxOutput) + "secret"
	run := scenarios.Command{Run: []string{"sh", "-c", "cat; echo short >&2"}, Stdin: long}
	ended := Run(context.Background(), run, []string{"PATH=/usr/bin:/bin"})
	if ended.Err != nil || ended.Stdout.Cut != len("secret") || len(ended.Stdout.Kept) != maxOutput {
		t.Errorf("error %v, %d bytes kept, %d cut", ended.Err, len(ended.Stdout.Kept), ended.Stdout.Cut)
	}
	if ended.Stderr != (Output{Kept: "short\n"}) {
		t.Errorf("%+v", ended.Stderr)
	}
	wanted := &scenarios.CommandExpect{Stdout: &scenarios.Text{Lacks: "secret"}}
	if differs, undecided := ended.Compare(wanted); differs != "" || undecided == "" {
		t.Errorf("%q, %q", differs, undecided)
	}
	if Limited([]byte(long)) != ended.Stdout {
		t.Error("an output that was kept in full before is cut in another way")
	}
}
