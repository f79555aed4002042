package conformances

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	yaml "go.yaml.in/yaml/v3"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// YAML returns the report as YAML. Read can read it.
func YAML(r *Report) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(r), encoder.Close()); err != nil {
		return nil, fmt.Errorf("writing the conformance report: %w", err)
	}
	return b.Bytes(), nil
}

// Read reads a report. It rejects one whose conclusions do not follow from its evidence, such as after an edit by
// hand.
func Read(data []byte) (*Report, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	r := &Report{}
	if err := decoder.Decode(r); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("reading a conformance report: %w", err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading a conformance report: want one YAML document")
	}
	if r.APIVersion != APIVersion || r.Kind != Kind {
		return nil, fmt.Errorf("reading a conformance report: want %s %s, not %q %q", APIVersion, Kind,
			r.APIVersion, r.Kind)
	}
	if err := errors.Join(append(r.contradictions(), r.Implementation.Validate())...); err != nil {
		return nil, fmt.Errorf("reading a conformance report: %w", err)
	}
	return r, nil
}

// contradictions returns an error for each contradiction in a report.
func (r *Report) contradictions() []error {
	errs := append(r.badScenarios(), r.badRequirements()...)
	if len(errs) > 0 {
		return errs
	}
	same := *r
	same.Requirements = slices.Clone(r.Requirements)
	same.Conclude()
	for i := range same.Requirements {
		got, want := r.Requirements[i], &same.Requirements[i]
		if got.Status == Unstable && got.unstable(want.Status) {
			want.Status = Unstable
		}
		if got.Status != want.Status {
			errs = append(errs, fmt.Errorf("requirement %s is reported as %s, but according to its scenarios it is %s",
				got.ID, got.Status, want.Status))
		}
	}
	same.sum()
	if r.Core != same.Core {
		errs = append(errs, fmt.Errorf("core is reported as %s (%s), but according to its requirements it is %s (%s)",
			r.Core.Result, r.Core.Statistics, same.Core.Result, same.Core.Statistics))
	}
	if r.Extended != same.Extended {
		errs = append(errs, fmt.Errorf("extended is reported as %s (%s), but according to its "+
			"requirements it is %s (%s)",
			r.Extended.Result, r.Extended.Statistics, same.Extended.Result, same.Extended.Statistics))
	}
	if !slices.Equal(r.Variants, same.Variants) {
		errs = append(errs, errors.New("the variants do not follow from the scenarios"))
	}
	return errs
}

// unstable reports whether the statuses of several runs differ, and include the one that the evidence shows; or whether
// all runs met the requirement, as the evidence shows, but in different variants.
func (q *Requirement) unstable(shown Status) bool {
	return plain.Vary(q.Runs) && slices.Contains(q.Runs, shown) || plain.Vary(q.Variants) && shown == Passed
}

func (r *Report) badScenarios() []error {
	var errs []error
	known := []Status{
		Passed, Failed, Known, Untested,
		Skipped,
	}
	seen := map[string]bool{}
	for _, s := range r.Scenarios {
		if seen[s.Name] {
			errs = append(errs, fmt.Errorf("scenario %s is there twice", s.Name))
		}
		seen[s.Name] = true
		if !slices.Contains(known, s.Status) && (s.Status != Unstable || !plain.Vary(s.Runs)) {
			errs = append(errs, fmt.Errorf("scenario %s has the status %q", s.Name, s.Status))
		}
	}
	return errs
}

// shows reports whether a scenario can have a result for the requirement. Several runs of the scenario can have
// different ones. If a single step decided, its result can differ from that of the scenario, unless this passed.
func (e Evidence) shows(s Scenario, result Status) bool {
	if len(s.Runs) == 0 {
		s.Runs = []Status{s.Status}
	}
	return slices.ContainsFunc(s.Runs, func(status Status) bool {
		return status == result || e.Decided[s.Name] != "" && slices.Contains([]Status{Failed, Known, Untested}, status)
	})
}

func (r *Report) badRequirements() []error {
	scenarios := map[string]Scenario{}
	for _, s := range r.Scenarios {
		scenarios[s.Name] = s
	}
	var errs []error
	seen := map[string]bool{}
	for _, q := range r.Requirements {
		if seen[q.ID] {
			errs = append(errs, fmt.Errorf("requirement %s is there twice", q.ID))
		}
		seen[q.ID] = true
		if q.Level != coreLevel && q.Level != extendedLevel {
			errs = append(errs, fmt.Errorf("requirement %s has the level %q", q.ID, q.Level))
		}
		for _, part := range []struct {
			names []string
			want  Status
		}{
			{q.Scenarios.Passed, Passed},
			{q.Scenarios.Failed, Failed},
			{q.Scenarios.Known, Known},
			{q.Scenarios.Ended, Known},
			{q.Scenarios.Untested, Untested},
			{q.Scenarios.Skipped, Skipped},
		} {
			for _, name := range part.names {
				if s := scenarios[name]; !q.Scenarios.shows(s, part.want) {
					errs = append(errs, fmt.Errorf("requirement %s counts scenario %s as %s, but it is %q", q.ID, name, part.want,
						s.Status))
				}
			}
		}
	}
	return errs
}
