package pastruns

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
	"github.com/rehearse-dev/rehearse/suites/faults"
)

// These files contain the results of shards.
const (
	RunFile     = "run.json"
	FaultsFile  = faults.File
	ExploreFile = "explore.json"
	MatrixFile  = matrices.File
	UpgradeFile = "upgrade.json"
)

// Head is the common beginning of all result files that can be merged.
type Head struct {
	reports.Head

	Shard       *reports.Shard `json:"shard"`
	Interrupted bool           `json:"interrupted"`
	// Each of these fields is in one kind of file only. They tell the kinds apart, whatever the files are called.
	Trials json.RawMessage `json:"trials"`
	Kinds  json.RawMessage `json:"kinds"`
	Cells  json.RawMessage `json:"cells"`
	Checks json.RawMessage `json:"checks"`
}

// Kind returns the usual name of a file with this head.
func (h *Head) Kind() string {
	switch {
	case h.Trials != nil:
		return FaultsFile
	case h.Kinds != nil:
		return ExploreFile
	case h.Cells != nil:
		return MatrixFile
	case h.Checks != nil:
		return UpgradeFile
	}
	return RunFile
}

// Ended returns when the command ended; zero if it has not, or was interrupted.
func (h *Head) Ended() time.Time {
	if h.Interrupted {
		return time.Time{}
	}
	return h.Finished
}

// Replaces reports whether a result of a shard counts instead of another one, nil for none, because a Job may repeat a
// shard. The attempt that ended last counts. One that did not end counts only if no other one did.
func (h *Head) Replaces(other *Head) bool {
	return other == nil || !h.Ended().Before(other.Ended())
}

// FileIn returns the result file in a report folder. If the path is a file, it returns the path.
func FileIn(path string) (string, error) {
	if !cli.IsFolder(path) {
		return path, nil
	}
	var found []string
	for _, name := range []string{RunFile, FaultsFile, ExploreFile, MatrixFile, UpgradeFile} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			found = append(found, file)
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("read a report folder: %w", err)
		}
	}
	switch len(found) {
	case 0:
		return filepath.Join(path, RunFile), nil // reading it fails with a clear error
	case 1:
		return found[0], nil
	}
	if len(found) == 2 && isMatrix(found[0], found[1]) {
		return found[1], nil
	}
	return "", fmt.Errorf("the report folder %s has the results of several commands: name one of %s", path,
		strings.Join(found, ", "))
}

// isMatrix reports whether a run.json is the run of a matrix.json: one command wrote both.
func isMatrix(run, matrix string) bool {
	of, _, err1 := ReadHead(run)
	is, _, err2 := ReadHead(matrix)
	return errors.Join(err1, err2) == nil && of.Kind() == RunFile && is.Kind() == MatrixFile && of.Command == is.Command
}

// ReadHead reads the head of a result file, or of the one in a report folder.
func ReadHead(path string) (head *Head, file string, err error) {
	if file, err = FileIn(path); err != nil {
		return nil, "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, "", fmt.Errorf("read a result: %w", err)
	}
	head = &Head{}
	if err := json.Unmarshal(data, head); err != nil {
		return nil, "", fmt.Errorf("read a result: %s: %w", file, err)
	}
	return head, file, nil
}
