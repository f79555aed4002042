package harness

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
)

// keepHistory leaves the scenario's history alone in its folder in the report folder.
func (e *evidence) keepHistory() artifacts {
	return e.leave(func(dir string, keep func(string, error)) {
		if parts := e.historyParts(); len(parts) > 0 {
			keep(reports.HistoryFile, e.writeHistory(filepath.Join(dir, reports.HistoryFile), parts, nil, nil))
		}
	})
}

// leaveHistory writes the scenario's history into a folder, unless nothing was watched, with the managers of the last
// changes, and at its end those of all objects.
func (e *evidence) leaveHistory(ctx context.Context, dir string, keep func(string, error)) {
	parts := e.historyParts()
	if len(parts) == 0 {
		return
	}
	managed, last := e.changeManagers(ctx, parts)
	last = append(last, e.managers(ctx, parts)...)
	keep(reports.HistoryFile, e.writeHistory(filepath.Join(dir, reports.HistoryFile), parts, managed, last))
}

// historyParts is what the scenario's history is made of: its own namespace in everything that is watched on the track,
// and what it looked at elsewhere.
func (e *evidence) historyParts() []history.Part {
	var parts []history.Part
	for _, stream := range e.run.shared.history.Streams() {
		parts = append(parts, history.Part{Stream: stream, Scope: history.Scope{Namespace: e.run.namespace}})
	}
	for _, part := range e.run.timeline.looked {
		if part.Scope.Namespace != e.run.namespace {
			parts = append(parts, part)
		}
	}
	// Streams come in no order, but files must be the same every time.
	slices.SortStableFunc(parts, func(a, b history.Part) int {
		return cmp.Compare(a.Stream.Resource().String(), b.Stream.Resource().String())
	})
	return parts
}

func (e *evidence) writeHistory(path string, parts []history.Part, managed map[int64][]reports.FieldManager,
	last []reports.HistoryLine,
) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	w := &historyWriter{run: e.run, encoder: json.NewEncoder(out), to: e.run.shared.history.Seq(), managed: managed}
	w.encoder.SetEscapeHTML(false)
	err = w.write(parts)
	for _, line := range last {
		line.Step = w.steps
		err = errors.Join(err, w.encoder.Encode(line))
	}
	if err != nil {
		return fmt.Errorf("write the history of %s: %w", e.run.scenario.Title(), err)
	}
	return out.Flush()
}

type historyWriter struct {
	run     *scenarioRun
	encoder *json.Encoder
	to      int64
	// managed are the managers of an object's fields after a change, by its number.
	managed map[int64][]reports.FieldManager
	// steps that were written, and gaps that were not yet.
	steps int
	gaps  []reports.HistoryLine
}

func (w *historyWriter) write(parts []history.Part) error {
	w.gaps = gapsOf(parts)
	told := map[int64]bool{}
	for _, part := range parts {
		objects, _ := part.Stream.At(w.run.timeline.from, part.Scope)
		for _, object := range objects {
			if err := w.encoder.Encode(reports.HistoryLine{
				Line: "change", At: w.run.timeline.beginning, Change: "present", Resource: part.Stream.Resource().Resource,
				APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(),
				Name: object.GetName(),
				UID:  string(object.GetUID()), ResourceVersion: object.GetResourceVersion(), Object: object.Object,
			}); err != nil {
				return err
			}
		}
	}
	for i, change := range history.Merge(w.run.timeline.from, w.to, parts) {
		if told[change.Seq] {
			continue // two parts have it
		}
		told[change.Seq] = true
		if err := errors.Join(w.before(change.Seq, change.At), w.encoder.Encode(w.change(parts[i], change))); err != nil {
			return err
		}
	}
	return w.before(w.to+1, time.Time{})
}

// before writes the steps and the gaps that began before a change; all that are left with a time of zero.
func (w *historyWriter) before(seq int64, at time.Time) error {
	for ; w.steps < len(w.run.timeline.begun) && w.run.timeline.begun[w.steps].Seq < seq; w.steps++ {
		step := w.run.entry.steps[w.steps]
		if err := w.encoder.Encode(reports.HistoryLine{
			Line: "step", At: w.run.timeline.begunAt[w.steps], Step: w.steps + 1, Title: w.run.timeline.begun[w.steps].Title,
			Verb: step.Verb, State: step.State,
		}); err != nil {
			return err
		}
	}
	for len(w.gaps) > 0 && (at.IsZero() || !w.gaps[0].At.After(at)) {
		gap := w.gaps[0]
		w.gaps = w.gaps[1:]
		if gap.At.Before(w.run.timeline.beginning) && gap.Until != nil && gap.Until.Before(w.run.timeline.beginning) {
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

// gapsOf lists the gaps of all parts, by their beginning.
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
