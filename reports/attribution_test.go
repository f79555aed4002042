package reports

import "testing"

func TestAbout(t *testing.T) {
	step := func(status Status, covers ...string) *Step {
		return &Step{Name: string(status), Status: status, Covers: covers}
	}
	for name, c := range map[string]struct {
		status Status
		steps  []*Step
		want   Status
		step   int // -1 for none
	}{
		"all passed": {
			Passed,
			[]*Step{step(Passed), step(Passed)},
			Passed,
			-1,
		},
		"its step passed before another failed": {Failed, []*Step{
			step(Passed, "A"), step(Failed, "B"),
			step(NotRun),
		}, Passed, 0},
		"its step failed": {
			Failed,
			[]*Step{step(Passed, "A"), step(Failed, "A", "B")},
			Failed, 1,
		},
		"its step did not run": {Failed, []*Step{
			step(Passed, "A"), step(Failed, "B"),
			step(NotRun, "A"),
		}, NotRun, 2},
		"a step of no requirement failed before": {
			Failed,
			[]*Step{step(Failed), step(NotRun, "A")},
			NotRun, 1,
		},
		"its step could not be judged": {
			Error,
			[]*Step{step(Error, "A"), step(NotRun, "A")},
			Error, 0,
		},
		"its step failed as known": {Known, []*Step{
			step(Passed, "A"), step(Known, "A"),
			step(NotRun),
		}, Known, 1},
		"the scenario's, and a step failed": {Failed, []*Step{step(Passed), step(Failed)}, Failed, 1},
		"the scenario's, and another's step failed": {Failed, []*Step{
			step(Passed), step(Failed, "B"),
			step(NotRun),
		}, NotRun, 2},
		"the scenario's, and another's last one failed": {
			Failed,
			[]*Step{step(Passed), step(Failed, "B")},
			Passed, 0,
		},
		"the scenario's, all its steps passed and none should": {
			Failed,
			[]*Step{step(Passed), step(Passed)},
			Failed,
			-1,
		},
		"the scenario's, and all steps are of others": {Failed, []*Step{step(Failed, "B"), step(Passed, "B")}, NotRun, -1},
		"the scenario's, which could not be judged":   {Error, []*Step{step(NotRun)}, Error, -1},
		"its step failed, and went on": {
			Failed,
			[]*Step{step(Failed, "A"), step(Passed, "A")},
			Failed, 0,
		},
		"all its requirements passed, and then another step failed": {
			Failed,
			[]*Step{step(Passed, "A", "B"), step(Failed)},
			NotRun, 1,
		},
		"another's step failed, and it went on": {
			Failed,
			[]*Step{step(Failed, "B"), step(Passed, "A")},
			Passed, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Scenario{Status: c.status, Steps: c.steps, Covers: []string{"A", "B"}}
			status, decisive := s.About("A")
			if status != c.want {
				t.Errorf("%s, want %s", status, c.want)
			}
			if c.step < 0 && decisive != nil || c.step >= 0 && decisive != c.steps[c.step] {
				t.Errorf("decided by %v, want step %d", decisive, c.step)
			}
		})
	}
}
