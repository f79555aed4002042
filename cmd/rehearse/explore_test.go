package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

func TestExploreRefusesWrongInput(t *testing.T) {
	wrong := filepath.Join(t.TempDir(), "known.yaml")
	if err := os.WriteFile(wrong, []byte("known: [{id: a}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no path", nil, "name the states to go through"},
		{"one state", []string{"--path", "1.34"}, "want two states or more, or --gates"},
		{"no version", []string{"--path", "one,1.34"}, `version "one"`},
		{"no gate", []string{"--path", "1.34 A,1.35"}, `"A": want NAME=true or NAME=false`},
		{"nothing changes", []string{"--path", "1.34,1.34"}, "nothing changes"},
		{"two minors down", []string{"--path", "1.35,1.33"}, "--force explores it all the same"},
		{"gates on a path", []string{"--path", "1.34,1.35", "--gates", "all"}, "want one state in --path"},
		{"a gate that is none", []string{"--path", "1.34", "--gates", "RelaxedServiceNames"}, "has no such gate"},
		{"a known finding without a reason", []string{"--path", "1.34,1.35", "--known", wrong}, "needs an id and a reason"},
		{"known findings that are not there", []string{"--path", "1.34,1.35", "--known", "missing.yaml"}, "missing.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), append([]string{"explore"}, test.args...), strings.NewReader(""), &out, &errs)
			if code != cli.ExitInput || !strings.Contains(errs.String(), test.want) {
				t.Errorf("exit code %d, %s; want %d, %s", code, errs.String(), cli.ExitInput, test.want)
			}
		})
	}
}

// Every command of the page can be run: it is planned here.
func TestExploreCommandsOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/explore.md")
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(t.TempDir(), "known.yaml")
	if err := os.WriteFile(known, []byte("known: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	planned := 0
	for line := range strings.Lines(string(page)) {
		_, text, ok := strings.Cut(line, "rehearse explore --")
		if !ok || !strings.HasPrefix(line, "    ") {
			continue
		}
		args := append(words("explore --"+strings.ReplaceAll(strings.TrimSpace(text), "known.yaml", known)), "--plan")
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != cli.ExitOK ||
			!strings.Contains(out.String(), "survey, watched for") {
			t.Errorf("%s: exit code %d, %s", args, code, errs.String())
		}
		planned++
	}
	if planned < 7 {
		t.Errorf("%d commands on the page", planned)
	}
}

// words are the arguments of a command line, in which double quotes hold several together.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
