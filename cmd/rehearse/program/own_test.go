package program

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// itself is the environment variable that makes the test's own program behave as a rehearse with a suite of its own.
const itself = "REHEARSE_TEST_AS_OWN"

func own() suites.Definition {
	return suites.Definition{
		Name: "team-rules", Title: "The rules of a team", Files: os.DirFS("../../../examples/team-rules"),
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(itself) != "" {
		Main(own())
	}
	os.Exit(m.Run())
}

// A program of somebody else that calls Main has its suite beside the built-in ones.
func TestMainWithASuiteOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		args  []string
		wants []string
		slow  bool
	}{
		{[]string{"requirements", "team-rules"}, []string{"TEAM-1", "TEAM-3"}, false},
		{[]string{"requirements", "kai"}, []string{"KAI"}, false},
		{[]string{"conformance", "team-rules", "--report-dir", t.TempDir()}, []string{"team-rules: Core: all 3 requirements passed"}, true},
	} {
		t.Run(strings.Join(c.args[:2], " "), func(t *testing.T) {
			if c.slow && testing.Short() {
				t.Skip("NOT RUN: it needs a real control plane; go test without -short runs it")
			}
			command := exec.CommandContext(t.Context(), os.Args[0], c.args...)
			command.Env = append(os.Environ(), itself+"=1")
			out, err := command.CombinedOutput()
			for _, want := range c.wants {
				if err != nil || !strings.Contains(string(out), want) {
					t.Errorf("%v, want %q:\n%s", err, want, out)
				}
			}
		})
	}
}

// A suite cannot take the name of another one, and replaces no simulator of another one.
func TestSuitesHaveDifferentNames(t *testing.T) {
	own := suites.Definition{Name: "mine", Others: simulators.Catalog{"kai": {}}}
	_, err := builtin.All().With(own)
	golden.Error(t, err, "add suite mine: there is already a simulator kai")
	_, err = builtin.All().With(suites.Definition{Name: "kai"})
	golden.Error(t, err, "add suite kai: there is already a suite of this name")
}
