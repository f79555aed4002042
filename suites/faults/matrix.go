package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/terminal"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Matrix shows which requirement caught which fault of a suite's simulator.
type Matrix struct {
	// Suite is the name of the suite.
	Suite string `json:"suite"`
	// Rows has one row for each fault, in the order of the suite.
	Rows []Row `json:"rows"`
	// Before and After are the reasons why the suite failed without faults: before the runs with faults, and beside or
	// after them. They are nil if it passed.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	// Broken are the reasons why the suite could not be judged without faults: clusters and scenarios with errors, and
	// a run that ended early.
	Broken []string `json:"broken,omitempty"`
	// Took is the total time.
	Took time.Duration `json:"nanoseconds"`
	// Core are the core requirements of the suite.
	Core []Core `json:"core"`
	// Partial: not every fault was tried, or only with some scenarios.
	Partial bool `json:"partial,omitempty"`
	// Repeat is how often each scenario ran with each fault. With are the liberties that the simulator took meanwhile.
	Repeat int      `json:"repeat,omitempty"`
	With   []string `json:"with,omitempty"`
}

// Core is a core requirement. Each should catch a fault.
type Core struct {
	ID        string `json:"id"`
	Statement string `json:"statement"`
	// NoFault is the reason why no fault breaks it; "" if a fault does.
	NoFault string `json:"noFault,omitempty"`
}

// coreOf are the core requirements of a suite.
func coreOf(all []suites.Requirement) []Core {
	var core []Core
	for _, r := range all {
		if r.Level == suites.Core {
			core = append(core, Core{ID: r.ID, Statement: r.Statement, NoFault: r.NoFault})
		}
	}
	return core
}

// Row is the result of one fault.
type Row struct {
	Fault simulators.Fault `json:"fault"`
	// Scenarios is the number of scenarios that ran with it. Failed are those that failed.
	Scenarios int      `json:"scenarios"`
	Failed    []string `json:"failed,omitempty"`
	// Caught are the requirements that the fault breaks and that a failed scenario shows to be violated. Unseen are the
	// other requirements that it breaks.
	Caught []string `json:"caught,omitempty"`
	Unseen []string `json:"unseen,omitempty"`
	// Blamed are the requirements that failed although the fault is not said to break them: its list is not complete, or
	// a scenario blames the wrong requirement.
	Blamed []string `json:"blamed,omitempty"`
	// Reasons are the reasons of the failures if they show no violation of what the fault breaks.
	Reasons []string `json:"reasons,omitempty"`
	// Unjudged are the scenarios that could not be judged, each with the reason.
	Unjudged []string `json:"unjudged,omitempty"`
	// Unstable are the scenarios whose verdicts differ between the runs. Unrepeated are repetitions without a verdict.
	Unstable   []string `json:"unstable,omitempty"`
	Unrepeated []string `json:"unrepeated,omitempty"`
}

// newRow judges a fault from the scenarios that ran with it.
func newRow(fault simulators.Fault, ran []*reports.Scenario) Row {
	row := Row{Fault: fault, Scenarios: len(ran)}
	violated := map[string]bool{}
	for _, s := range ran {
		switch s.Status {
		case reports.Passed, reports.Known:
		case reports.Failed:
			row.Failed = append(row.Failed, original(s.Name))
			row.Reasons = append(row.Reasons, original(s.Name)+": "+s.Message)
			for _, id := range s.Covers {
				if status, _ := s.About(id); status == reports.Failed {
					violated[id] = true
				}
			}
		default:
			row.Unjudged = append(row.Unjudged, original(s.Name)+": "+s.Message)
		}
	}
	for _, id := range fault.Breaks {
		if violated[id] {
			row.Caught = append(row.Caught, id)
		} else {
			row.Unseen = append(row.Unseen, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(violated)) {
		if !slices.Contains(fault.Breaks, id) {
			row.Blamed = append(row.Blamed, id)
		}
	}
	if len(row.Caught) > 0 {
		row.Reasons = nil
	}
	return row
}

// Err joins all problems of the suite: faults that were not caught, core requirements that caught no fault, and
// failures without faults. Core requirements are checked only if all faults were tried and the suite passed before.
func (m *Matrix) Err() error {
	var errs []error
	for _, row := range m.Rows {
		switch {
		case len(row.Caught) > 0 || row.unjudged():
		case len(row.Failed) > 0:
			errs = append(errs, fmt.Errorf("fault %s makes %s fail, but no step that covers what it breaks (%s): %s",
				row.Fault.Name, strings.Join(row.Failed, ", "), strings.Join(row.Fault.Breaks, ", "),
				firstLines(row.Reasons)))
		default:
			errs = append(errs, fmt.Errorf("fault %s is not caught by any of %d scenarios; it breaks %s", row.Fault.Name,
				row.Scenarios, strings.Join(row.Fault.Breaks, ", ")))
		}
		if len(row.Unstable) > 0 {
			errs = append(errs, fmt.Errorf("with fault %s, the verdicts differ between %d runs: %s", row.Fault.Name, m.Repeat,
				firstLines(row.Unstable)))
		}
	}
	if !m.Partial && !m.notTried() {
		errs = append(errs, m.idle()...)
	}
	return errors.Join(append(errs, notGreen("before", m.Before), notGreen("after", m.After))...)
}

// notGreen returns an error with the first few reasons why the suite failed without faults; nil if it passed.
func notGreen(when string, reasons []string) error {
	const most = 5
	var errs []error
	for i, reason := range reasons {
		if i == most {
			errs = append(errs, fmt.Errorf("without faults, %s: and %d more", when, len(reasons)-most))
			break
		}
		errs = append(errs, fmt.Errorf("without faults, %s: %s", when, reason))
	}
	return errors.Join(errs...)
}

// unjudged reports whether nothing is known about the fault: a scenario that may catch it could not be judged.
func (r Row) unjudged() bool { return len(r.Caught) == 0 && len(r.Unjudged) > 0 }

// idle returns an error for each core requirement that caught no fault and has no reason for that (NoFault).
func (m *Matrix) idle() []error {
	var errs []error
	for _, r := range m.Core {
		if m.caughtNothing(r) && !m.mayCatch(r.ID) {
			errs = append(errs, fmt.Errorf("core requirement %s catches no fault: %s", r.ID, r.Statement))
		}
	}
	return errs
}

// caughtNothing reports whether a requirement that should catch a fault has caught none.
func (m *Matrix) caughtNothing(r Core) bool {
	alone, shared := m.catches(r.ID)
	return r.NoFault == "" && len(alone)+len(shared) == 0
}

// mayCatch reports whether a fault that breaks a requirement has scenarios that could not be judged.
func (m *Matrix) mayCatch(id string) bool {
	return slices.ContainsFunc(m.Rows, func(row Row) bool {
		return len(row.Unjudged) > 0 && slices.Contains(row.Unseen, id)
	})
}

// catches returns the faults that a requirement catches: those that it alone catches, and those that others catch, too.
func (m *Matrix) catches(id string) (alone, shared []string) {
	for _, row := range m.Rows {
		switch {
		case !slices.Contains(row.Caught, id):
		case len(row.Caught) == 1:
			alone = append(alone, row.Fault.Name)
		default:
			shared = append(shared, row.Fault.Name)
		}
	}
	return alone, shared
}

// String formats the matrix for a person: by fault, by core requirement, and in total.
func (m *Matrix) String() string {
	var b strings.Builder
	switch {
	case !m.notTried():
	case len(m.Before) > 0:
		return fmt.Sprintf("%s: no fault was tried, because the suite FAILS without faults\n", m.Suite)
	default:
		return fmt.Sprintf("%s: no fault was tried, because the suite could not be judged without faults\n", m.Suite)
	}
	table := [][]string{{"FAULT", "FAILED", "CAUGHT BY", "ALSO BREAKS, UNSEEN", "NOT BROKEN, BUT FAILED"}}
	caught := 0
	for _, row := range m.Rows {
		by := strings.Join(row.Caught, " ")
		if by == "" {
			by = "NONE"
		} else {
			caught++
		}
		if n := len(row.Unjudged); n > 0 {
			by += fmt.Sprintf(" (%d not judged)", n)
		}
		table = append(table, []string{
			row.Fault.Name, fmt.Sprintf("%d of %d", len(row.Failed), row.Scenarios), by, strings.Join(row.Unseen, " "),
			strings.Join(row.Blamed, " "),
		})
	}
	b.WriteString(terminal.Table(table, 0))
	table = [][]string{{"CORE REQUIREMENT", "FAULTS", "CAUGHT BY IT ALONE", "CAUGHT BY OTHERS, TOO"}}
	used := 0
	for _, r := range m.Core {
		alone, shared := m.catches(r.ID)
		if m.Partial && len(alone)+len(shared) == 0 {
			continue // no tried fault breaks it
		}
		only := strings.Join(alone, " ")
		if len(alone)+len(shared) > 0 || r.NoFault != "" {
			used++
		}
		if r.NoFault != "" {
			only = "none: " + r.NoFault
		}
		table = append(table, []string{r.ID, strconv.Itoa(len(alone) + len(shared)), only, strings.Join(shared, " ")})
	}
	b.WriteString("\n" + terminal.Table(table, 0))
	outcome := func(failed, broken []string) string {
		switch {
		case len(failed) > 0:
			return "DID NOT PASS"
		case len(broken) > 0:
			return "NOT JUDGED"
		}
		return "passed"
	}
	for _, row := range m.Rows {
		for _, text := range row.Unstable {
			fmt.Fprintf(&b, "\nUNSTABLE with fault %s: %s\n", row.Fault.Name, text)
		}
	}
	requirements := fmt.Sprintf("%d of %d core requirements catch one, or say why there is none", used, len(m.Core))
	if m.Partial {
		requirements = fmt.Sprintf("%d of %d core requirements catch one of these", used, len(m.Core))
	}
	fmt.Fprintf(&b, "\n%s: %d of %d faults caught; %s; without faults: %s before, %s during or after%s; %s\n",
		m.Suite, caught, len(m.Rows), requirements, outcome(m.Before, nil), outcome(m.After, m.Broken), m.stability(),
		m.Took.Round(time.Second))
	return b.String()
}

// stability says how many verdicts differ between the runs; "" if each scenario ran once.
func (m *Matrix) stability() string {
	if m.Repeat < 2 {
		return ""
	}
	ran, unstable, unrepeated := 0, 0, 0
	for _, row := range m.Rows {
		ran, unstable, unrepeated = ran+row.Scenarios, unstable+len(row.Unstable), unrepeated+len(row.Unrepeated)
	}
	text := fmt.Sprintf("; %d runs each, the verdicts of %d of %d scenarios differ", m.Repeat, unstable, ran)
	if unrepeated > 0 {
		text += fmt.Sprintf(" (%d runs not judged)", unrepeated)
	}
	return text
}

// Unjudged returns an error for the faults and the repetitions that have no verdict, and for core requirements of
// which it is unknown whether they catch a fault. A scenario without a verdict is a problem only then.
func (m *Matrix) Unjudged() error {
	errs := []error{notGreen("not judged", m.Broken)}
	for _, row := range m.Rows {
		if row.unjudged() {
			errs = append(errs, fmt.Errorf("fault %s could not be judged: %s", row.Fault.Name, strings.Join(row.Unjudged, "; ")))
		}
		if len(row.Unrepeated) > 0 {
			errs = append(errs, fmt.Errorf("some runs with fault %s could not be judged: %s", row.Fault.Name,
				firstLines(row.Unrepeated)))
		}
	}
	if !m.Partial && !m.notTried() {
		errs = append(errs, m.mayBeIdle()...)
	}
	return errors.Join(errs...)
}

// mayBeIdle returns an error for each core requirement that caught no fault, but may catch one with a scenario that
// could not be judged. It omits those of faults that are errors themselves.
func (m *Matrix) mayBeIdle() []error {
	var errs []error
	for _, r := range m.Core {
		reported := slices.ContainsFunc(m.Rows, func(row Row) bool {
			return row.unjudged() && slices.Contains(row.Unseen, r.ID)
		})
		if m.caughtNothing(r) && m.mayCatch(r.ID) && !reported {
			errs = append(errs, fmt.Errorf("it is unknown whether core requirement %s catches a fault: some scenarios with a "+
				"fault that breaks it could not be judged", r.ID))
		}
	}
	return errs
}
