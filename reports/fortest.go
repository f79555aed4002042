package reports

import (
	"errors"
	"fmt"
	"strings"
)

// ForTest returns the result of a scenario for a test: nothing if it passed, its known issue, or why it did not pass.
func ForTest(run *Run, title string) (known string, err error) {
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			switch {
			case s.Name != title:
				continue
			case s.Status == Passed:
				return "", nil
			case s.Status == Known:
				return s.KnownIssue, nil
			}
			parts := []string{fmt.Sprintf("%s: %s", s.Name, s.Status), Explain(s)}
			return "", errors.New(strings.Join(append(parts, setupProblems(track)...), "\n\n"))
		}
	}
	return "", fmt.Errorf("the scenario %s is not in the run's result", title)
}

// setupProblems says what went wrong with the cluster itself.
func setupProblems(track *Track) []string {
	var broken []string
	for _, step := range track.Setup {
		if step.Status == Error || step.Status == Failed {
			broken = append(broken, setupProblem(step))
		}
	}
	return broken
}

func setupProblem(step *Step) string {
	return fmt.Sprintf("%s of the cluster (%s): %s", step.Verb, step.Name, step.Message)
}

// SetupProblems says for tests what went wrong with the clusters themselves, even if all scenarios passed: a cluster
// that cannot be removed, for example.
func SetupProblems(run *Run) error {
	var errs []error
	for _, track := range run.Tracks {
		for _, step := range track.Setup {
			if SetupBroken(run, step) {
				errs = append(errs, fmt.Errorf("%s: %s", track.Name, setupProblem(step)))
			}
		}
	}
	return errors.Join(errs...)
}
