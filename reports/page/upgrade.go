package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// shownObjects is how many objects of a finding are named, and shownFlips how many gates. The gates most likely to
// blame come first. The matrix beside it has all gates.
const (
	shownObjects = 12
	shownFlips   = 3
)

// severities are findings' severities as statuses, which give them their colours.
var severities = map[upgrades.Severity]reports.Status{
	upgrades.Breaks: reports.Failed, upgrades.Unjudged: reports.Error, upgrades.Changes: reports.Known,
	upgrades.Before: reports.Skipped, "": reports.Passed,
}

// OfUpgrade returns the page of a rehearsed upgrade.
func OfUpgrade(r *upgrades.Report) ([]byte, error) {
	sentence := arrows(r.Sentence())
	v := &view{
		Title: "Rehearse: " + sentence, Sentence: sentence, Description: sentence, Verdict: verdictOf(r.ExitCode()),
		Reproduce: r.Command, Notes: r.Notes, Matrices: []matrix{kindsMatrix(r.Path, r.Matrix)}, HasTimeline: true,
	}
	v.Facts = times(r.Started, r.Finished, reports.Elapsed(r.Started, r.Finished))
	v.Facts = append(v.Facts, fact{"Objects", fmt.Sprintf("%d given, %d surveyed", r.Objects, r.Surveyed)},
		fact{"Requests", fmt.Sprint(r.Requests)})
	for _, f := range r.Findings {
		v.Findings = append(v.Findings, findingOf(f))
	}
	text, err := json.Marshal(upgradeData(r))
	if err != nil {
		return nil, fmt.Errorf("write the data of %s: %w", File, err)
	}
	packed, err := pack(text)
	if err != nil {
		return nil, err
	}
	v.Data = template.HTML(packed) //nolint:gosec // base64
	return render(v)
}

// arrows replaces the arrows of terminals.
func arrows(text string) string { return strings.ReplaceAll(text, " -> ", " → ") }

// verdictOf an exit code.
func verdictOf(code int) reports.Status {
	switch code {
	case reports.ExitPassed:
		return reports.Passed
	case reports.ExitFailed:
		return reports.Failed
	case reports.ExitInterrupted:
		return reports.NotRun
	default:
		return reports.Error
	}
}

func findingOf(f *upgrades.Finding) finding {
	one := finding{
		Status: severities[f.Severity], Severity: string(f.Severity), Title: f.Kind + ": " + f.What, Hop: arrows(f.Hop),
		Count: plain.Plural(len(f.Objects), "object"),
	}
	for i, o := range f.Objects {
		if i == shownObjects {
			one.More = len(f.Objects) - i
			break
		}
		one.Objects = append(one.Objects, o.String())
	}
	one.Lines = slices.DeleteFunc([]findingLine{
		{"Seen", f.Words, ""},
		{"Cause", f.Cause, f.Link},
		{"Later", f.Back, ""},
		{"Gates", listed(f.Flips), ""},
		{"To do", f.Advice, ""},
	}, func(line findingLine) bool { return line.Text == "" })
	return one
}

func listed(flips []string) string {
	if more := len(flips) - shownFlips; more > 0 {
		return strings.Join(flips[:shownFlips], ", ") + fmt.Sprintf("; and %d more flip at this hop", more)
	}
	return strings.Join(flips, ", ")
}

// kindsMatrix returns the matrix of kinds and states, with the gates that flip on the way to each state.
func kindsMatrix(path []*upgrades.State, rows []*upgrades.Row) matrix {
	m := matrix{
		Title: "Kinds and states", Corner: "kind",
		Text: "The objects of each kind at each state, by their worst result.",
	}
	for i, s := range path {
		m.Columns = append(m.Columns, column{Name: s.Name, Remark: s.Way})
		if i > 0 && len(s.Flips) > 0 {
			m.Flips = append(m.Flips, flips{Way: path[i-1].Name + " → " + s.Name, Gates: s.Flips})
		}
	}
	for _, row := range rows {
		line := matrixRow{Name: row.Kind, Level: plain.Plural(row.Objects, "object")}
		for i, c := range row.Cells {
			line.Cells = append(line.Cells, upgradeCell(c, path[i]))
		}
		m.Rows = append(m.Rows, line)
	}
	return m
}

func upgradeCell(c upgrades.Cell, s *upgrades.State) cell {
	var parts []string
	one := cell{}
	for _, part := range []struct {
		n      int
		text   string
		status reports.Status
	}{
		{c.Breaks, "break", reports.Failed},
		{c.Unjudged, "not judged", reports.Error},
		{c.Changes, "changed", reports.Known},
		{c.Before, "broken before", reports.Skipped},
		{c.Good, "ok", reports.Passed},
	} {
		if part.n == 0 {
			continue
		}
		if one.Status == "" {
			one.Status = part.status
		}
		parts = append(parts, fmt.Sprintf("%d %s", part.n, part.text))
	}
	one.Text = strings.Join(parts, ", ")
	one.Title = one.Text
	if one.Text == "" {
		one.Text = "absent"
	}
	if one.Status == "" && !s.Reached {
		return cell{Status: reports.NotRun, Text: "not reached", Title: "the cluster did not reach this state"}
	}
	return one
}

// upgradeData is the timeline of the cluster or, in a merged report, of each shard's cluster. Each has its own
// beginning: the shards may have run at different times.
func upgradeData(r *upgrades.Report) runData {
	data := runData{Start: millis(r.Started), End: 1, Tracks: []trackData{}, Scenarios: []scenarioData{}}
	timelines := r.Timelines
	if len(timelines) == 0 {
		timelines = []*upgrades.Timeline{{Started: r.Started, Finished: r.Finished, Path: r.Path, Processes: r.Processes}}
	}
	for _, one := range timelines {
		track, end := upgradeTrack(one)
		if start := millis(one.Started); start != data.Start {
			track.Start = start
		}
		data.Tracks, data.End = append(data.Tracks, track), max(data.End, end)
	}
	return data
}

// upgradeTrack returns the timeline of a cluster, and its end.
func upgradeTrack(t *upgrades.Timeline) (track trackData, last int64) {
	start := millis(t.Started)
	relative := func(at int64) int64 { return max(at-start, 0) }
	last = max(relative(millis(t.Finished)), 1)
	track = trackData{Name: "upgrade", Bands: []bandData{}}
	if t.Shard > 0 {
		track.Name = fmt.Sprintf("shard %d", t.Shard)
	}
	for i, s := range t.Path {
		if s.Began.IsZero() {
			continue
		}
		from := relative(millis(s.Began))
		to := from + int64(s.Transition*1000)
		last = max(last, to) // a shard that ended early has no end
		verb, status := "transition", string(reports.Passed)
		if i == 0 {
			verb = "create"
		}
		if !s.Reached && s.Survey == 0 {
			status = string(reports.Error)
		}
		track.Bands = append(track.Bands, bandData{
			Name: s.Name, Verb: verb, Change: s.Way + ": " + s.Name, Status: status,
			From: from, To: to,
		})
		end := last
		if i+1 < len(t.Path) && !t.Path[i+1].Began.IsZero() {
			end = relative(millis(t.Path[i+1].Began))
		}
		if s.Reached {
			track.Bands = append(track.Bands, bandData{Name: s.Name, From: to, To: end})
		}
	}
	track.Processes = processes(t.Processes, relative)
	return track, last
}
