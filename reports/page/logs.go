package page

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
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

// klogged is the head of a line that Kubernetes' components log: I1122 23:11:47.650772   16011 options.go:263] text.
var klogged = regexp.MustCompile(`^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6}) +\d+ (.*)$`)

// readLogs reads the components' logs and the events of a scenario that did not pass.
func readLogs(s *reports.Scenario, files fs.FS) []logLine {
	if files == nil || s.Status == reports.Passed {
		return nil
	}
	var all []logLine
	for _, artifact := range s.Artifacts {
		name := path.Base(artifact)
		switch {
		case name == "events.yaml":
			all = append(all, readEvents(files, artifact)...)
		case path.Ext(name) == ".log":
			if data, err := readFile(files, artifact); err == nil {
				all = append(all, parseLog(strings.TrimSuffix(name, ".log"), data, s.Started)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b logLine) int { return a.at.Compare(b.at) })
	return all
}

// parseLog returns the lines that have a time. The times of Kubernetes have no year, and use the machine's time zone.
func parseLog(name string, data []byte, near time.Time) []logLine {
	var all []logLine
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := klogged.FindStringSubmatch(line); m != nil {
			at, err := time.ParseInLocation("0102 15:04:05.000000", m[2], time.Local)
			if err == nil {
				at = at.AddDate(near.Year()-at.Year(), 0, 0)
				all = append(all, logLine{at: at, grave: m[1] != "I", From: name, Text: cutLine(m[1] + " " + m[3])})
			}
			continue
		}
		var structured struct {
			Level string `json:"level"`
			TS    string `json:"ts"`
			Msg   string `json:"msg"`
			Error string `json:"error"`
		}
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &structured) != nil || structured.Level == "" {
			continue
		}
		if structured.Msg == "request stats" {
			continue // etcd logs one for each slow request
		}
		if at, err := time.Parse("2006-01-02T15:04:05.000000Z0700", structured.TS); err == nil {
			all = append(all, logLine{
				at: at, grave: structured.Level != "info" && structured.Level != "debug", From: name,
				Text: cutLine(strings.ToUpper(structured.Level[:1]) + " " + structured.Msg + " " + structured.Error),
			})
		}
	}
	return all
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

// logsOf returns the lines from the time of a step. If there are too many, it prefers warnings and errors. Times of
// events are in whole seconds.
func logsOf(step *reports.Step, logs []logLine) []logLine {
	if step.Started.IsZero() {
		return nil
	}
	until := step.Finished
	if until.IsZero() {
		until = step.Started.Add(time.Minute)
	}
	var within []logLine
	for _, line := range logs {
		slack := 50 * time.Millisecond
		if line.From == "event" {
			slack = time.Second
		}
		if !line.at.Before(step.Started.Add(-slack)) && !line.at.After(until.Add(slack)) {
			line.Text = "+" + plain.Duration(max(line.at.Sub(step.Started), 0)) + " " + line.Text
			within = append(within, line)
		}
	}
	if len(within) > mostLogs {
		slices.SortStableFunc(within, func(a, b logLine) int { return cmp.Compare(b2i(b.grave), b2i(a.grave)) })
		within = within[:mostLogs]
		slices.SortStableFunc(within, func(a, b logLine) int { return a.at.Compare(b.at) })
	}
	return within
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
