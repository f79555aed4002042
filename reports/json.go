package reports

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/rehearse-dev/rehearse/reports/internal/folder"
)

//go:generate go run ./internal/generate

//go:embed run.schema.json
var schemaJSON []byte

// Schema returns the JSON schema (2020-12) of run.json.
func Schema() []byte { return append([]byte(nil), schemaJSON...) }

// JSON is the run itself, indented. It can be read back into a Run.
func JSON(run *Run) ([]byte, error) { return folder.JSON(run) }

// Read reads a run.json, also one of an older format.
func Read(data []byte) (*Run, error) {
	var run Run
	if err := json.Unmarshal(data, &run); err != nil {
		return nil, fmt.Errorf("read a run.json: %w", err)
	}
	switch {
	case run.Format > Format:
		return nil, fmt.Errorf("read a run.json: its format is %d and this rehearse reads up to %d; it was written by "+
			"rehearse %s, use that one", run.Format, Format, run.Program)
	case run.Tracks == nil || run.Started.IsZero() && run.Provider == "":
		return nil, fmt.Errorf("read a run.json: it is not a result of rehearse run or rehearse conformance: it has " +
			"no tracks, provider or start")
	case run.Format == 0:
		run.Format = 1
	}
	run.Tracks = present(run.Tracks)
	for _, track := range run.Tracks {
		track.Setup, track.Scenarios = present(track.Setup), present(track.Scenarios)
		for _, scenario := range track.Scenarios {
			scenario.Steps = present(scenario.Steps)
		}
	}
	return &run, nil
}
