package artifacts

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
)

// History is a scenario's part of the history of its track.
type History struct {
	Parts []history.Part
	// From is the number of the last change before the scenario began, at Beginning. To is the number of its last
	// change.
	From, To  int64
	Beginning time.Time
	// Steps are the steps that have begun.
	Steps []Step
}

// Step is a step of the scenario, with its beginning.
type Step struct {
	Title, Verb, State string
	// Seq is the number of the last change before the step, which began at At.
	Seq int64
	At  time.Time
}

// Managers say who managed the fields of objects.
type Managers struct {
	// After are the managers after a change, by its number.
	After map[int64][]reports.FieldManager
	// Now are lines with the current managers, and with errors for managers that are unknown.
	Now []reports.HistoryLine
}

// Write writes the history into a file.
func (h History) Write(path string, managers Managers) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	w := &historyWriter{History: h, encoder: json.NewEncoder(out), managed: managers.After}
	w.encoder.SetEscapeHTML(false)
	err = w.write()
	for _, line := range managers.Now {
		line.Step = w.steps
		err = errors.Join(err, w.encoder.Encode(line))
	}
	return errors.Join(err, out.Flush())
}

type historyWriter struct {
	History

	encoder *json.Encoder
	// managed are the managers of an object's fields after a change, by its number.
	managed map[int64][]reports.FieldManager
	// steps is how many steps were written. gaps are the ones still to write.
	steps int
	gaps  []reports.HistoryLine
}

func (w *historyWriter) write() error {
	w.gaps = gapsOf(w.Parts)
	told := map[int64]bool{}
	for _, part := range w.Parts {
		objects, _ := part.Stream.At(w.From, part.Scope)
		for _, object := range objects {
			if err := w.encoder.Encode(reports.HistoryLine{
				Line: "change", At: w.Beginning, Change: "present", Resource: part.Stream.Resource().Resource,
				APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(),
				Name: object.GetName(),
				UID:  string(object.GetUID()), ResourceVersion: object.GetResourceVersion(), Object: object.Object,
			}); err != nil {
				return err
			}
		}
	}
	for i, change := range history.Merge(w.From, w.To, w.Parts) {
		if told[change.Seq] {
			continue // two parts contain it
		}
		told[change.Seq] = true
		if err := errors.Join(w.before(change.Seq, change.At), w.encoder.Encode(w.change(w.Parts[i], change))); err != nil {
			return err
		}
	}
	return w.before(w.To+1, time.Time{})
}

// before writes the steps and the gaps that began before a change. If the time is zero, it writes all that are left.
func (w *historyWriter) before(seq int64, at time.Time) error {
	for ; w.steps < len(w.Steps) && w.Steps[w.steps].Seq < seq; w.steps++ {
		step := w.Steps[w.steps]
		if err := w.encoder.Encode(reports.HistoryLine{
			Line: "step", At: step.At, Step: w.steps + 1, Title: step.Title, Verb: step.Verb, State: step.State,
		}); err != nil {
			return err
		}
	}
	for len(w.gaps) > 0 && (at.IsZero() || !w.gaps[0].At.After(at)) {
		gap := w.gaps[0]
		w.gaps = w.gaps[1:]
		if gap.At.Before(w.Beginning) && gap.Until != nil && gap.Until.Before(w.Beginning) {
			continue
		}
		gap.Step = w.steps
		if err := w.encoder.Encode(gap); err != nil {
			return err
		}
	}
	return nil
}

func (w *historyWriter) change(part history.Part, change history.Change) reports.HistoryLine {
	line := reports.HistoryLine{
		Line: "change", At: change.At, Step: w.steps, Change: string(change.Type), Resource: part.Stream.Resource().Resource,
		Namespace: change.Namespace, Name: change.Name, UID: string(change.UID), ResourceVersion: change.ResourceVersion,
		Relisted: change.Relisted, Dropped: change.Object == nil, Managers: w.managed[change.Seq],
	}
	if change.Object == nil {
		return line
	}
	line.APIVersion, line.Kind = change.Object.GetAPIVersion(), change.Object.GetKind()
	if change.Before != nil {
		if patch, exact := history.Patch(change.Before.Object, change.Object.Object); exact {
			line.Patch = patch
			return line
		}
	}
	line.Object = change.Object.Object
	return line
}

// gapsOf returns the gaps of all parts, ordered by start.
func gapsOf(parts []history.Part) []reports.HistoryLine {
	var lines []reports.HistoryLine
	seen := map[*history.Stream]bool{}
	for _, part := range parts {
		if seen[part.Stream] {
			continue
		}
		seen[part.Stream] = true
		for _, gap := range part.Stream.Gaps() {
			line := reports.HistoryLine{
				Line: "gap", At: gap.From, Resource: part.Stream.Resource().Resource,
				Relisted: gap.Relisted,
			}
			if !gap.To.IsZero() {
				line.Until = &gap.To
			}
			if gap.Err != nil {
				line.Error = gap.Err.Error()
			}
			lines = append(lines, line)
		}
	}
	slices.SortStableFunc(lines, func(a, b reports.HistoryLine) int { return a.At.Compare(b.At) })
	return lines
}
