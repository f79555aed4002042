package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Matrix says which requirement caught which fault of a suite's simulator.
type Matrix struct {
	// Suite by its name.
	Suite string
	// Rows, one for each fault, in the order of the suite.
	Rows []Row
	// Before and After are why the suite was not green without faults, before, and beside or after those with faults; nil
	// where it was.
	Before, After []string
	// Took is how long it all took.
	Took time.Duration

	requirements []suites.Requirement
	// partial: not every fault was tried.
	partial bool
}

// Row is what came of one fault.
type Row struct {
	Fault simulators.Fault
	// Scenarios that were run with it, and of those the ones that failed.
	Scenarios int
	Failed    []string
	// Caught are the requirements that the fault breaks and that a scenario shows to fail. Unseen are the others that it
	// breaks.
	Caught, Unseen []string
	// Unjudged are scenarios that could not be judged, each with the reason.
	Unjudged []string
}

// newRow judges what came of the scenarios that ran with a fault.
func newRow(fault simulators.Fault, ran []*reports.Scenario) Row {
	row := Row{Fault: fault, Scenarios: len(ran)}
	covered := map[string]bool{}
	for _, s := range ran {
		switch s.Status {
		case reports.Passed, reports.Known:
		case reports.Failed:
			row.Failed = append(row.Failed, original(s.Name))
			for _, id := range s.Covers {
				status, _ := s.About(id)
				covered[id] = covered[id] || status == reports.Failed
			}
		default:
			row.Unjudged = append(row.Unjudged, original(s.Name)+": "+s.Message)
		}
	}
	for _, id := range fault.Breaks {
		if covered[id] {
			row.Caught = append(row.Caught, id)
		} else {
			row.Unseen = append(row.Unseen, id)
		}
	}
	return row
}

// Err says everything that is wrong with the suite: a fault that nothing caught, a core requirement that caught none,
// and a simulator without faults that was not green. What could not be judged is wrong, too, unless the fault was
// caught all the same.
func (m *Matrix) Err() error {
	var errs []error
	if len(m.Before) > 0 {
		return notGreen("before", m.Before) // and nothing else was tried
	}
	for _, row := range m.Rows {
		switch {
		case len(row.Caught) > 0:
		case len(row.Unjudged) > 0:
			errs = append(errs, fmt.Errorf("fault %s could not be judged: %s", row.Fault.Name, strings.Join(row.Unjudged, "; ")))
		case len(row.Failed) > 0:
			errs = append(errs, fmt.Errorf("fault %s makes %s fail, but none that covers a requirement that it breaks (%s)",
				row.Fault.Name, strings.Join(row.Failed, ", "), strings.Join(row.Fault.Breaks, ", ")))
		default:
			errs = append(errs, fmt.Errorf("fault %s is not caught by any of %d scenarios; it breaks %s", row.Fault.Name,
				row.Scenarios, strings.Join(row.Fault.Breaks, ", ")))
		}
	}
	if !m.partial {
		errs = append(errs, m.idle()...)
	}
	return errors.Join(append(errs, notGreen("after", m.After))...)
}

// notGreen says why the suite was not green without faults; nil when it was. The first few reasons tell enough.
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

// idle are the core requirements that caught no fault, and do not say why there is none.
func (m *Matrix) idle() []error {
	var errs []error
	for _, r := range m.requirements {
		if alone, shared := m.catches(r.ID); r.Level == suites.Core && r.NoFault == "" && len(alone)+len(shared) == 0 {
			errs = append(errs, fmt.Errorf("core requirement %s catches no fault: %s", r.ID, r.Statement))
		}
	}
	return errs
}

// catches are the faults that a requirement catches: those that it alone catches, and those that others catch, too.
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

// String is the matrix for a person: by fault, by core requirement, and the sum.
func (m *Matrix) String() string {
	var b strings.Builder
	if len(m.Before) > 0 {
		return fmt.Sprintf("%s: no fault was tried, since the suite is NOT green without any\n", m.Suite)
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FAULT\tFAILED\tCAUGHT BY\tALSO BREAKS, UNSEEN")
	caught := 0
	for _, row := range m.Rows {
		by := strings.Join(row.Caught, " ")
		if by == "" {
			by = "NOBODY"
		} else {
			caught++
		}
		if n := len(row.Unjudged); n > 0 {
			by += fmt.Sprintf(" (%d not judged)", n)
		}
		fmt.Fprintf(table, "%s\t%d of %d\t%s\t%s\n", row.Fault.Name, len(row.Failed), row.Scenarios, by,
			strings.Join(row.Unseen, " "))
	}
	fmt.Fprintln(table, "\nCORE REQUIREMENT\tFAULTS\tCAUGHT BY IT ALONE\tCAUGHT BY OTHERS, TOO")
	core, used := 0, 0
	for _, r := range m.requirements {
		if r.Level != suites.Core {
			continue
		}
		core++
		alone, shared := m.catches(r.ID)
		if m.partial && len(alone)+len(shared) == 0 {
			continue // no fault was tried that could show it
		}
		only := strings.Join(alone, " ")
		if len(alone)+len(shared) > 0 || r.NoFault != "" {
			used++
		}
		if r.NoFault != "" {
			only = "none: " + r.NoFault
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", r.ID, len(alone)+len(shared), only, strings.Join(shared, " "))
	}
	_ = table.Flush() // a Builder takes everything
	green := func(reasons []string) string {
		if len(reasons) == 0 {
			return "green"
		}
		return "NOT green"
	}
	requirements := fmt.Sprintf("%d of %d core requirements catch one, or say why there is none", used, core)
	if m.partial {
		requirements = fmt.Sprintf("%d of %d core requirements catch one of these", used, core)
	}
	fmt.Fprintf(&b, "\n%s: %d of %d faults caught; %s; without faults %s before and %s beside or after; %s\n",
		m.Suite, caught, len(m.Rows), requirements, green(m.Before), green(m.After), m.Took.Round(time.Second))
	return b.String()
}
