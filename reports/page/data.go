package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"github.com/rehearse-dev/rehearse/reports"
)

// The maximum that the page takes from a run's histories. The files beside it contain the rest.
const (
	mostBodies  = 8 << 20
	mostChanges = 400_000
	mostText    = 20_000 // of one step's message or evidence
)

// The data of the script. Names are short because there are many. Times are milliseconds since the start of the track,
// which is that of the run unless the track has another.
type (
	runData struct {
		Start     int64             `json:"start"`
		End       int64             `json:"end"`
		Tracks    []trackData       `json:"tracks"`
		Scenarios []scenarioData    `json:"scenarios"`
		Sources   map[string]string `json:"sources,omitempty"`
	}
	trackData struct {
		Name      string        `json:"name"`
		Start     int64         `json:"start,omitempty"`
		Bands     []bandData    `json:"bands"`
		Processes []processData `json:"processes,omitempty"`
	}
	// bandData is a period on a track: a state, or work on the cluster (Verb).
	bandData struct {
		Name   string `json:"name"`
		Verb   string `json:"verb,omitempty"`
		Change string `json:"change,omitempty"`
		Status string `json:"status,omitempty"`
		From   int64  `json:"a"`
		To     int64  `json:"b"`
	}
	processData struct {
		Component string `json:"c"`
		Version   string `json:"v,omitempty"`
		Started   int64  `json:"a"`
		Ready     int64  `json:"r,omitempty"`
		Ended     int64  `json:"b,omitempty"`
		Unasked   bool   `json:"u,omitempty"`
	}
	scenarioData struct {
		Name        string       `json:"name"`
		Anchor      string       `json:"id"`
		Track       int          `json:"track"`
		System      string       `json:"system,omitempty"`
		Status      string       `json:"status"`
		Description string       `json:"text,omitempty"`
		Remark      string       `json:"remark,omitempty"`
		File        string       `json:"file,omitempty"`
		Line        int          `json:"line,omitempty"`
		Covers      []string     `json:"covers,omitempty"`
		Versions    []string     `json:"versions,omitempty"`
		Namespace   string       `json:"ns,omitempty"`
		From        int64        `json:"a"`
		To          int64        `json:"b"`
		Steps       []stepData   `json:"steps"`
		Objects     []objectData `json:"objects,omitempty"`
		Gaps        [][2]int64   `json:"gaps,omitempty"`
		History     string       `json:"history,omitempty"`
		Files       []file       `json:"files,omitempty"`
		Alone       string       `json:"alone,omitempty"`
		Problem     string       `json:"problem,omitempty"`
	}
	stepData struct {
		Name     string       `json:"n"`
		Verb     string       `json:"v,omitempty"`
		Status   string       `json:"s"`
		From     int64        `json:"a,omitempty"`
		To       int64        `json:"b,omitempty"`
		Waited   int64        `json:"w,omitempty"`
		Crossing int64        `json:"x,omitempty"`
		State    string       `json:"st,omitempty"`
		Position string       `json:"p,omitempty"`
		Covers   []string     `json:"c,omitempty"`
		Message  string       `json:"m,omitempty"`
		Note     string       `json:"o,omitempty"`
		Evidence string       `json:"e,omitempty"`
		Request  string       `json:"q,omitempty"`
		Diff     []difference `json:"d,omitempty"`
		Attempts []string     `json:"t,omitempty"`
		Logs     []logLine    `json:"g,omitempty"`
		Silent   string       `json:"l,omitempty"`
	}
	objectData struct {
		Kind      string `json:"k"`
		Namespace string `json:"ns,omitempty"`
		Name      string `json:"n"`
		// Changes have a time, a type and a step and, if the page has it, the object or {"patch": ...}.
		Changes [][]any `json:"c"`
		// Managers at the end of the scenario: the name, the subresource and the fields of each.
		Managers [][3]any `json:"g,omitempty"`
		// Sets are the managers at other times. Managed maps the number of a change to the set after it.
		Sets    [][][3]any  `json:"s,omitempty"`
		Managed map[int]int `json:"m,omitempty"`
	}
)

// data returns the packed data of the script, and a sentence about what is left out.
func (c *collector) data() (packed, left string, err error) {
	if c.run.Started.IsZero() {
		return "", "", nil
	}
	c.apart = len(c.run.Periods()) > 1
	data := runData{Start: millis(c.run.Started), End: 1, Sources: c.run.Sources}
	for _, track := range c.run.Tracks {
		end := c.begin(track)
		data.End = max(data.End, end)
		one := c.track(track, end)
		if c.start != data.Start {
			one.Start = c.start
		}
		data.Tracks = append(data.Tracks, one)
		for _, s := range track.Scenarios {
			data.Scenarios = append(data.Scenarios, c.scenario(track, s, len(data.Tracks)-1))
		}
	}
	left = c.objects(data.Scenarios)
	text, err := json.Marshal(data)
	if err != nil {
		return "", "", fmt.Errorf("write the data of %s: %w", File, err)
	}
	packed, err = pack(text)
	return packed, left, err
}

// begin sets the start from which the times of a track count, and returns the end of its run. If several runs have
// pauses between them, each track counts from the start of its own run: a day without a run would leave no room for
// the runs.
func (c *collector) begin(track *reports.Track) (end int64) {
	from, to := c.run.Started, reports.End(c.run)
	if c.apart && !track.RunStarted.IsZero() {
		from, to = track.RunStarted, track.RunFinished
	}
	c.start = millis(from)
	return c.relative(millis(to))
}

// pack compresses a text, and encodes it with characters that are allowed in HTML.
func pack(text []byte) (string, error) {
	var b bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	zipped, err := gzip.NewWriterLevel(encoder, gzip.BestCompression)
	if err == nil {
		_, err = zipped.Write(text)
	}
	if err != nil {
		return "", fmt.Errorf("pack the data of %s: %w", File, err)
	}
	if err := cmp.Or(zipped.Close(), encoder.Close()); err != nil {
		return "", fmt.Errorf("pack the data of %s: %w", File, err)
	}
	return b.String(), nil
}

// collector makes a page of a run.
type collector struct {
	run       *reports.Run
	histories map[*reports.Scenario]*history
	files     fs.FS
	anchors   anchors
	// link returns the path from the page to a file of the scenarios; nil if the page has no links to files.
	link func(string) string
	// apart says that the run combines several runs, with pauses between them. start is the time from which times count.
	apart bool
	start int64
	// taken are the scenarios in the order of the data, and starts the times from which their times count.
	taken  []*reports.Scenario
	starts []int64
}

// relative returns a time for the script. 0 means none, so the earliest time is 1.
func (c *collector) relative(at int64) int64 {
	if at == 0 {
		return 0
	}
	return max(at-c.start, 1)
}

func (c *collector) track(t *reports.Track, runEnd int64) trackData {
	data := trackData{Name: t.Name, Bands: []bandData{}}
	state := ""
	var since, last int64
	for _, step := range t.Setup {
		if step.Started.IsZero() {
			continue
		}
		from, to := c.relative(millis(step.Started)), c.relative(millis(step.Finished))
		if step.Finished.IsZero() {
			to = runEnd
		}
		if state != "" && from > since {
			data.Bands = append(data.Bands, bandData{Name: state, From: since, To: from})
		}
		data.Bands = append(data.Bands, bandData{
			Name: step.Name, Verb: step.Verb, Change: reports.SetupTitle(step), Status: string(step.Status), From: from, To: to,
		})
		if step.Verb == "create" || step.Verb == "using" || step.Verb == "transition" {
			if state = step.Name; step.Status != reports.Passed {
				state = "" // unknown
			} else if step.Verb == "transition" {
				state = c.stateAfter(t, step)
			}
		}
		since, last = to, to
	}
	if state != "" && last < runEnd && !ended(t) {
		data.Bands = append(data.Bands, bandData{Name: state, From: since, To: runEnd})
	}
	data.Processes = processes(t.Processes, c.relative)
	return data
}

func processes(lives []reports.Process, relative func(int64) int64) []processData {
	var all []processData
	for _, p := range lives {
		one := processData{
			Component: p.Component, Version: p.Version, Started: relative(millis(p.Started)),
			Unasked: p.Unasked,
		}
		if !p.Ready.IsZero() {
			one.Ready = relative(millis(p.Ready))
		}
		if !p.Ended.IsZero() {
			one.Ended = relative(millis(p.Ended))
		}
		all = append(all, one)
	}
	return all
}

// stateAfter returns the state that a transition leads to, as written in the path.
func (c *collector) stateAfter(t *reports.Track, step *reports.Step) string {
	n := 0
	for _, other := range t.Setup {
		if other.Verb == "transition" {
			if n++; other == step && n < len(t.Path) {
				return t.Path[n]
			}
		}
	}
	return step.Name
}

// ended reports whether the track's cluster was deleted or left.
func ended(t *reports.Track) bool {
	return slices.ContainsFunc(t.Setup, func(s *reports.Step) bool {
		return (s.Verb == "delete" || s.Verb == "leaving") && !s.Started.IsZero()
	})
}
