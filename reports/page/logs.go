package page

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// mostLogs is how many lines of logs a step shows, and mostLine the maximum length of one.
const (
	mostLogs = 40
	mostLine = 400
)

// logLine is a line of a component's log, or an event of the cluster.
type logLine struct {
	at    time.Time
	grave bool
	From  string `json:"f"`
	Text  string `json:"t"`
}

// stepLogs are the lines of a scenario's logs, and the logs by the name of their component.
type stepLogs struct {
	lines []logLine
	// timed maps each log to whether one of its lines has a time.
	timed map[string]bool
}

// The forms of lines with a time.
var (
	// klogged is a line of Kubernetes' components: I1122 23:11:47.650772   16011 options.go:263] text.
	klogged = regexp.MustCompile(`^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6}) +\d+ (.*)$`)
	// slogged is a line of Go's slog in its text form: time=2026-01-01T00:00:00.000Z level=INFO msg=text.
	slogged = regexp.MustCompile(`^time=(\S+) level=(\S+) (.*)$`)
	// dated is a line of zap in its form for consoles: 2026-01-01T00:00:00Z<tab>INFO<tab>text.
	dated = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\S+)\s+(?i:(debug|info|warn|error|dpanic|panic|fatal)\s+)?(.*)$`)
)

// readLogs reads the components' logs and the events of a scenario that did not pass.
func readLogs(s *reports.Scenario, files fs.FS) *stepLogs {
	all := &stepLogs{timed: map[string]bool{}}
	if files == nil || s.Status == reports.Passed {
		return all
	}
	for _, artifact := range s.Artifacts {
		name := path.Base(artifact)
		switch {
		case name == "events.yaml":
			all.lines = append(all.lines, readEvents(files, artifact)...)
		case path.Ext(name) == ".log":
			if data, err := readFile(files, artifact); err == nil {
				name = strings.TrimSuffix(name, ".log")
				lines := parseLog(name, data, s.Started)
				all.lines, all.timed[name] = append(all.lines, lines...), len(lines) > 0
			}
		}
	}
	slices.SortStableFunc(all.lines, func(a, b logLine) int { return a.at.Compare(b.at) })
	return all
}

// parseLog returns the lines that have a time.
func parseLog(name string, data []byte, near time.Time) []logLine {
	var all []logLine
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line, ok := parseLine(lines.Text(), near); ok {
			line.From, line.Text = name, cutLine(line.Text)
			all = append(all, line)
		}
	}
	return all
}

// parseLine reads one line in any of the forms. near is a time of the run, in the time zone of the machine that ran it.
func parseLine(line string, near time.Time) (logLine, bool) {
	if m := klogged.FindStringSubmatch(line); m != nil {
		at, err := klogTime(m[2], near)
		return logLine{at: at, grave: m[1] != "I", Text: m[1] + " " + m[3]}, err == nil
	}
	if m := slogged.FindStringSubmatch(line); m != nil {
		at, err := stampTime(m[1])
		return logLine{at: at, grave: isGrave(m[2]), Text: m[2][:1] + " " + m[3]}, err == nil
	}
	if m := dated.FindStringSubmatch(line); m != nil {
		at, err := stampTime(m[1])
		return logLine{at: at, grave: m[2] != "" && isGrave(m[2]), Text: m[2] + " " + m[3]}, err == nil
	}
	var structured struct {
		Level string `json:"level"`
		TS    string `json:"ts"`
		Time  string `json:"time"`
		Msg   string `json:"msg"`
		Error string `json:"error"`
	}
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &structured) != nil || structured.Level == "" {
		return logLine{}, false
	}
	if structured.Msg == "request stats" {
		return logLine{}, false // etcd logs one for each slow request
	}
	at, err := stampTime(cmp.Or(structured.TS, structured.Time))
	return logLine{
		at: at, grave: isGrave(structured.Level),
		Text: strings.ToUpper(structured.Level[:1]) + " " + structured.Msg + " " + structured.Error,
	}, err == nil
}

// klogTime reads a time of Kubernetes' logs, which has no year, and is in the time zone of the machine that ran the
// component.
func klogTime(text string, near time.Time) (time.Time, error) {
	at, err := time.ParseInLocation("2006 0102 15:04:05.000000", strconv.Itoa(near.Year())+" "+text, near.Location())
	const half = 183 * 24 * time.Hour
	switch {
	case at.Sub(near) > half:
		at = at.AddDate(-1, 0, 0)
	case near.Sub(at) > half:
		at = at.AddDate(1, 0, 0)
	}
	return at, err
}

// stampTime reads RFC 3339 with any fraction, also with a zone without a colon, as etcd writes it.
func stampTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Parse("2006-01-02T15:04:05Z0700", text)
	}
	return at, nil
}

func isGrave(level string) bool {
	level = strings.ToLower(level)
	return !strings.HasPrefix(level, "info") && !strings.HasPrefix(level, "debug")
}

func cutLine(line string) string {
	if len(line) > mostLine {
		line = strings.ToValidUTF8(line[:mostLine], "") + "…"
	}
	return plain.Clean(strings.TrimSpace(line))
}

// readEvents reads the events that a scenario left.
func readEvents(files fs.FS, name string) []logLine {
	data, err := readFile(files, name)
	if err != nil {
		return nil
	}
	var all []logLine
	for document := range strings.SplitSeq(string(data), "---\n") {
		var event struct {
			Type           string                      `json:"type"`
			Reason         string                      `json:"reason"`
			Message        string                      `json:"message"`
			LastTimestamp  time.Time                   `json:"lastTimestamp"`
			EventTime      time.Time                   `json:"eventTime"`
			InvolvedObject struct{ Kind, Name string } `json:"involvedObject"`
		}
		if sigsyaml.Unmarshal([]byte(document), &event) != nil || event.Reason == "" {
			continue
		}
		at := event.LastTimestamp
		if at.IsZero() {
			at = event.EventTime
		}
		all = append(all, logLine{
			at: at, grave: event.Type != "Normal", From: "event", Text: cutLine(event.Type + " " + event.Reason + " " +
				event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name + ": " + event.Message),
		})
	}
	return all
}

// of returns the lines from the time of a step, and names the logs that have none. If there are too many lines, it
// prefers warnings and errors. Times of events are in whole seconds.
func (l *stepLogs) of(step *reports.Step) (within []logLine, silent string) {
	if step.Started.IsZero() {
		return nil, ""
	}
	until := step.Finished
	if until.IsZero() {
		until = step.Started.Add(time.Minute)
	}
	heard := map[string]bool{}
	for _, line := range l.lines {
		slack := 50 * time.Millisecond
		if line.From == "event" {
			slack = time.Second
		}
		if !line.at.Before(step.Started.Add(-slack)) && !line.at.After(until.Add(slack)) {
			line.Text = "step +" + plain.Duration(max(line.at.Sub(step.Started), 0)) + " " + line.Text
			within, heard[line.From] = append(within, line), true
		}
	}
	if len(within) > mostLogs {
		slices.SortStableFunc(within, func(a, b logLine) int { return cmp.Compare(b2i(b.grave), b2i(a.grave)) })
		within = within[:mostLogs]
		slices.SortStableFunc(within, func(a, b logLine) int { return a.at.Compare(b.at) })
	}
	return within, l.silent(heard)
}

// silent names the logs that have no line from a time, and those whose times cannot be read.
func (l *stepLogs) silent(heard map[string]bool) string {
	var other, untimed []string
	for _, name := range slices.Sorted(maps.Keys(l.timed)) {
		switch {
		case !l.timed[name]:
			untimed = append(untimed, name)
		case !heard[name]:
			other = append(other, name)
		}
	}
	var parts []string
	if len(other) > 0 {
		parts = append(parts, "No line of this time in: "+strings.Join(other, ", ")+".")
	}
	if len(untimed) > 0 {
		parts = append(parts, "No line with a time that the page can read in: "+strings.Join(untimed, ", ")+".")
	}
	return strings.Join(parts, " ")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
