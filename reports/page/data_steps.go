package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

func (c *collector) scenario(track *reports.Track, s *reports.Scenario, number int) scenarioData {
	data := scenarioData{
		Name: s.Name, Anchor: c.anchors[s], Track: number, System: s.System, Status: string(s.Status),
		Description: s.Description, Remark: brief(reports.Headline(c.run, track, s)),
		File: s.File, Line: s.Line, Covers: s.Covers, Versions: s.Versions, Namespace: s.Namespace,
		From: c.relative(millis(s.Started)), To: c.relative(millis(s.Finished)), Steps: make([]stepData, 0, len(s.Steps)),
	}
	logs := readLogs(s, c.files)
	for _, step := range s.Steps {
		data.Steps = append(data.Steps, c.step(step, logs))
	}
	if h := c.histories[s]; h != nil {
		data.History, data.Problem = h.File, h.Problem
		for _, gap := range h.Gaps {
			until := int64(0)
			if gap.Until != nil {
				until = c.relative(millis(*gap.Until))
			}
			data.Gaps = append(data.Gaps, [2]int64{c.relative(millis(gap.At)), until})
		}
	}
	if s.Status != reports.Passed {
		data.Files, data.Alone = filesOf(s, c.link), alone(c.run, s)
	}
	c.taken, c.starts = append(c.taken, s), append(c.starts, c.start)
	return data
}

func (c *collector) step(step *reports.Step, logs *stepLogs) stepData {
	data := stepData{
		Name: reports.StepTitle(step), Verb: step.Verb, Status: string(step.Status), From: c.relative(millis(step.Started)),
		To:     c.relative(millis(step.Finished)),
		Waited: time.Duration(step.Waited).Milliseconds(), Crossing: time.Duration(step.Crossing).Milliseconds(),
		State: step.State, Position: step.Position, Covers: step.Covers, Message: short(step.Message), Note: step.Note,
		Evidence: short(step.Evidence), Request: short(step.Request),
	}
	if data.Verb == data.Name {
		data.Verb = ""
	}
	for _, line := range reports.AttemptLines(step) {
		data.Attempts = append(data.Attempts, plain.Clean(line))
	}
	if step.Status != reports.Passed {
		data.Diff = differences(step.Message)
		data.Logs, data.Silent = logs.of(step)
	}
	return data
}

func short(text string) string {
	text = plain.Clean(text)
	if len(text) > mostText {
		return strings.ToValidUTF8(text[:mostText], "") + "\n… (the rest is in run.json)"
	}
	return text
}

// manage adds the managers of an object's fields to its data, as far as there is room. It returns how much room is
// taken. Each set of managers is stored once, because most changes do not change it.
func (d *objectData) manage(o *object, taken int) int {
	d.Managers, taken = managersData(o.Managers, taken)
	numbers := map[string]int{}
	for i, change := range o.Changes {
		if change.Managers == nil {
			continue
		}
		key := fmt.Sprintf("%s", change.Managers)
		number, known := numbers[key]
		if !known {
			var set [][3]any
			if set, taken = managersData(change.Managers, taken); taken > mostBodies {
				return taken
			}
			number = len(d.Sets)
			numbers[key], d.Sets = number, append(d.Sets, set)
		}
		if d.Managed == nil {
			d.Managed = map[int]int{}
		}
		d.Managed[i] = number
	}
	return taken
}

func managersData(managers []manager, taken int) (all [][3]any, now int) {
	for _, m := range managers {
		if taken += len(m.Fields); taken > mostBodies {
			return nil, taken // an incomplete list would be wrong
		}
		all = append(all, [3]any{m.Name, m.Subresource, m.Fields})
	}
	return all, taken
}

// objects adds the histories to the scenarios as far as there is room, beginning with those that did not pass. It
// returns what is left out.
func (c *collector) objects(scenarios []scenarioData) (left string) {
	order := make([]int, len(scenarios))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return -cmp.Compare(slices.Index(reports.Gravity, reports.Status(scenarios[a].Status)),
			slices.Index(reports.Gravity, reports.Status(scenarios[b].Status)))
	})
	changes, bodies, bare, without := 0, 0, 0, 0
	for _, i := range order {
		h := c.histories[c.taken[i]]
		c.start = c.starts[i]
		if h == nil {
			continue
		}
		for _, o := range h.Objects {
			if changes += len(o.Changes); changes > mostChanges {
				without++
				continue
			}
			data := objectData{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
			for _, one := range o.Changes {
				entry := []any{c.relative(one.At), one.Type[:1], one.Step}
				if bodies += len(one.Body); bodies > mostBodies {
					bare++
				} else if one.Patch {
					entry = append(entry, map[string]json.RawMessage{"patch": one.Body})
				} else if one.Body != nil {
					entry = append(entry, one.Body)
				}
				data.Changes = append(data.Changes, entry)
			}
			bodies = data.manage(o, bodies)
			scenarios[i].Objects = append(scenarios[i].Objects, data)
		}
	}
	switch {
	case without > 0:
		return fmt.Sprintf("The page contains the first %d MB of objects; %d objects are only in the history.jsonl "+
			"files beside it.", mostBodies>>20, without)
	case bare > 0:
		return fmt.Sprintf("The page has all changes, but the contents of %d of them are only in the history.jsonl "+
			"files beside it.", bare)
	}
	return ""
}
