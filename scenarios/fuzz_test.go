package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// Loading any file does not panic. Every error has a position, and every loaded scenario is complete enough to run.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/malformed/*.yaml", "testdata/examples/*.yaml", "testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := LoadBytes("fuzz.yaml", data)
		if err != nil {
			everyErrorHasAPlace(t, err, "fuzz.yaml")
			_ = err.Error()
			return
		}
		if len(set.Scenarios) == 0 {
			t.Fatal("neither a scenario nor an error")
		}
		Lint(set)
		for _, s := range set.Scenarios {
			fit(t, s)
		}
	})
}

func fit(t *testing.T, s *Scenario) {
	t.Helper()
	if len(s.Spec.Steps) == 0 || s.ID() == "" || len(s.ID()) > maxID || len(s.Path()) == 0 {
		t.Fatalf("unfit: %+v", s)
	}
	evaluator := expressions.New()
	vars := expressions.Variables{
		"namespace": "ns", "scenario": map[string]string{"id": s.ID(), "name": s.Metadata.Name}, "outputs": map[string]any{},
	}
	for i := range s.Spec.Steps {
		step := &s.Spec.Steps[i]
		if step.Verb() == "" || step.Title() == "" || step.Position.Line < 1 {
			t.Fatalf("unfit: %+v", step)
		}
		vars["case"] = s.CaseOf(step)
		_, _ = expressions.Evaluated(evaluator, *step, vars) // outputs may be missing; it must not panic
	}
}
