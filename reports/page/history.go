package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/rehearse-dev/rehearse/reports"
)

// maxHistory is how many bytes of one history are read.
const maxHistory = 256 << 20

// history is the content of a scenario's history.jsonl, by object.
type history struct {
	File    string
	Objects []*object
	Gaps    []reports.HistoryLine
	// Problem says why it could not be read completely.
	Problem string
}

// object is the history of one name: an object that was recreated follows the one before.
type object struct {
	Kind, Namespace, Name string
	Changes               []change
	// Managers of its fields at the end of the scenario, if known.
	Managers []manager
}

// manager is an entry of an object's managedFields.
type manager struct {
	Name        string          `json:"name"`
	Subresource string          `json:"subresource"`
	Fields      json.RawMessage `json:"fields"`
}

// change is one change of an object.
type change struct {
	At   int64
	Type string
	Step int
	// Body is the whole object or, with Patch, a merge patch to the one before; nil if unknown.
	Body  json.RawMessage
	Patch bool
	// Managers of the object's fields just after it, if known.
	Managers []manager
}

// recorded is a line of a history. Its objects are not decoded.
type recorded struct {
	reports.HistoryLine
	Object json.RawMessage `json:"object"`
	Patch  json.RawMessage `json:"patch"`
	// Managers hides the field of the embedded line.
	Managers []manager `json:"managers"`
}

func isHistory(artifact string) bool { return path.Base(artifact) == reports.HistoryFile }

// readHistories reads all histories of the scenarios.
func readHistories(run *reports.Run, files fs.FS) map[*reports.Scenario]*history {
	all := map[*reports.Scenario]*history{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			for _, artifact := range s.Artifacts {
				if isHistory(artifact) && files != nil {
					all[s] = readHistory(files, artifact)
				}
			}
		}
	}
	return all
}

func readHistory(files fs.FS, name string) *history {
	h := &history{File: name}
	data, err := readFile(files, name)
	if err != nil {
		h.Problem = fmt.Sprintf("%s could not be read: %v", name, err)
		return h
	}
	objects := map[[3]string]*object{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxHistory)
	for n := 1; lines.Scan(); n++ {
		var line recorded
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			h.Problem = fmt.Sprintf("%s ends at line %d: %v", name, n, err)
			return h
		}
		switch line.Line {
		case "gap":
			h.Gaps = append(h.Gaps, line.HistoryLine)
		case "managers":
			if o := objects[[3]string{line.Resource, line.Namespace, line.Name}]; o != nil && line.Error == "" {
				o.Managers = line.Managers
			}
		case "change":
			key := [3]string{line.Resource, line.Namespace, line.Name}
			o := objects[key]
			if o == nil {
				o = &object{Kind: line.Resource, Namespace: line.Namespace, Name: line.Name}
				objects[key] = o
				h.Objects = append(h.Objects, o)
			}
			if line.Kind != "" {
				o.Kind = line.Kind
			}
			c := change{At: millis(line.At), Type: line.Change, Step: line.Step, Body: line.Object, Managers: line.Managers}
			switch {
			case line.Patch != nil:
				c.Body, c.Patch = line.Patch, true
			case line.Object == nil && !line.Dropped:
				c.Body, c.Patch = json.RawMessage("{}"), true // nothing but the change itself
			}
			o.Changes = append(o.Changes, c)
		}
	}
	if err := lines.Err(); err != nil {
		h.Problem = fmt.Sprintf("%s could not be read whole: %v", name, err)
	}
	return h
}

// readFile reads a file of a report folder.
func readFile(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxHistory {
		return nil, fmt.Errorf("it has %d MB, and a page takes %d at most", info.Size()>>20, maxHistory>>20)
	}
	return fs.ReadFile(files, name)
}
