package faults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Kinds of trials.
const (
	KindFaults    = "faults"
	KindLiberties = "liberties"
)

// File is the name of the result's file.
const File = "faults.json"

// Format is the version of faults.json that this program writes.
const Format = 1

// Result is the result of trying the faults and liberties of a suite's simulator. It is the content of faults.json.
type Result struct {
	reports.Head

	Suite string `json:"suite"`
	// Shard says which part of the trials this is; nil if it is all of them.
	Shard *reports.Shard `json:"shard,omitempty"`
	// Trials are the trials of all shards. Partial: they are only those that the user named, or run only some scenarios.
	Trials  Names `json:"trials"`
	Partial bool  `json:"partial,omitempty"`
	// Faults and Liberties are the results of each kind; nil for a kind that was not tried.
	Faults    *Matrix  `json:"faults,omitempty"`
	Liberties *Freedom `json:"liberties,omitempty"`
}

// Names are the names of faults and of liberties.
type Names struct {
	Faults    []string `json:"faults,omitempty"`
	Liberties []string `json:"liberties,omitempty"`
}

// Try tries the faults or the liberties of a suite, or both if kind is "". It calls keep before the first trial, after
// each kind, and at the end. Only the last result has the time at which it finished. If kind is "", a name in Only
// means the fault of that name, or else the liberty. head says which command and program this is.
func Try(ctx context.Context, o Options, kind string, head reports.Head, keep func(*Result) error) (*Result, error) {
	head.Format, head.Started = Format, time.Now()
	result := &Result{Head: head, Suite: o.Suite.Name, Partial: o.partial()}
	bugs, liberties := o.divided(kind)
	var err error
	if result.Trials, err = o.names(kind); err != nil {
		return nil, err
	}
	if err := result.plan(ctx, o); err != nil {
		return nil, err
	}
	if err := keep(result); err != nil {
		return nil, err
	}
	if bugs != nil {
		if result.Faults, err = Run(ctx, *bugs); err == nil {
			err = keep(result)
		}
	}
	if err == nil && liberties != nil {
		if result.Liberties, err = Liberties(ctx, *liberties); err == nil {
			err = keep(result)
		}
	}
	if err != nil {
		return result, errors.Join(err, keep(result)) // what was found until then
	}
	result.Finished = time.Now()
	return result, keep(result)
}

// divided returns the options for the faults and those for the liberties; nil for a kind that is not tried.
func (o Options) divided(kind string) (bugs, liberties *Options) {
	isFault := func(name string) bool {
		return slices.ContainsFunc(o.Suite.Faults, func(known simulators.Fault) bool { return known.Name == name })
	}
	with := func(only []string) *Options { o.Only = only; own := o; return &own }
	all := o.Only
	if kind == "" && len(all) > 0 {
		if only := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !isFault(name) }); len(only) > 0 {
			bugs = with(only)
		}
		if only := slices.DeleteFunc(slices.Clone(all), isFault); len(only) > 0 {
			liberties = with(only)
		}
		return bugs, liberties
	}
	if kind != KindLiberties {
		bugs = with(all)
	}
	if kind != KindFaults {
		liberties = with(all)
	}
	return bugs, liberties
}

// Check returns an error if the suite does not have what Try would try, or if an option would have no effect.
func (o Options) Check(kind string) error {
	names, err := o.names(kind)
	if err == nil && len(o.With) > 0 && len(names.Faults) == 0 {
		return fmt.Errorf("liberties beside each fault (%s) have no effect, since no fault is tried",
			strings.Join(o.With, ", "))
	}
	return err
}

// names are the names of all trials.
func (o Options) names(kind string) (all Names, _ error) {
	bugs, liberties := o.divided(kind)
	if bugs != nil {
		wanted, err := choose(o.Suite, bugs.Only)
		if err != nil {
			return all, err
		}
		for _, fault := range wanted {
			all.Faults = append(all.Faults, fault.Name)
		}
	}
	if liberties != nil {
		trials, err := trialsOf(o.Suite, liberties.Only)
		if err != nil {
			return all, err
		}
		for _, trial := range trials {
			all.Liberties = append(all.Liberties, trial.Name)
		}
	}
	return all, nil
}

// plan sets the shard.
func (r *Result) plan(ctx context.Context, o Options) error {
	if o.Shard.Of == 0 {
		return nil
	}
	plan, err := harness.NewPlan(ctx, o.Provider, o.Suite.Scenarios, harness.PlanOptions{
		Simulators: o.Simulators, Shard: o.Shard,
	})
	if err != nil {
		return err
	}
	shard := *plan.Result().Shard
	sum := sha256.Sum256([]byte(strings.Join([]string{
		shard.Plan, o.Suite.Name, strings.Join(r.Trials.Faults, " "), strings.Join(r.Trials.Liberties, " "),
		fmt.Sprint(o.All, o.Repeat, o.With),
	}, "\x00")))
	shard.Plan = hex.EncodeToString(sum[:])
	r.Shard = &shard
	return nil
}

// Idle reports whether the shard has no trial, because there are fewer trials than shards.
func (r *Result) Idle() bool {
	return r.Shard != nil && (r.Faults == nil || len(r.Faults.Rows) == 0 && !r.Faults.notTried()) &&
		(r.Liberties == nil || len(r.Liberties.Trials) == 0)
}

// String formats the result for a person.
func (r *Result) String() string {
	var b strings.Builder
	if r.Faults != nil && (len(r.Faults.Rows) > 0 || r.Faults.notTried()) {
		b.WriteString(r.Faults.String())
	}
	if r.Liberties != nil && len(r.Liberties.Trials) > 0 {
		b.WriteString(r.Liberties.String())
	}
	if untried := r.Untried(); len(untried) > 0 {
		why := "no selected scenario covers what they break"
		switch {
		case r.Finished.IsZero():
			why = "the run ended early"
		case r.Faults != nil && r.Faults.notTried():
			why = "the suite did not pass without faults"
		}
		fmt.Fprintf(&b, "no result, since %s: %s\n", why, strings.Join(untried, ", "))
	}
	return b.String()
}

// Err joins all problems of the suite.
func (r *Result) Err() error {
	var errs []error
	if r.Faults != nil {
		errs = append(errs, r.Faults.Err())
	}
	if r.Liberties != nil {
		errs = append(errs, r.Liberties.Err())
	}
	return errors.Join(errs...)
}

// Unjudged returns an error for the liberties, and for the repetitions of faults, that have no verdict.
func (r *Result) Unjudged() error {
	var errs []error
	if r.Faults != nil {
		errs = append(errs, r.Faults.Unjudged())
	}
	if r.Liberties != nil {
		errs = append(errs, r.Liberties.Unjudged())
	}
	return errors.Join(errs...)
}

// Write writes faults.json into a folder, which it creates if necessary.
func Write(dir string, r *Result) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", File, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", File, err)
	}
	return reports.ReplaceFile(filepath.Join(dir, File), append(data, '\n'))
}

// Remove removes the faults.json of an earlier run from a folder. It would look like the result of this run.
func Remove(dir string) error {
	if err := os.Remove(filepath.Join(dir, File)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the result of an earlier run: %w", err)
	}
	return nil
}

// Read reads the content of a faults.json.
func Read(data []byte) (*Result, error) {
	return reports.Decode(data, "a "+File, Format, func(r *Result) (string, bool) {
		return fmt.Sprintf("suite %q", r.Suite), r.Suite != ""
	})
}
