package pastruns

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
	"github.com/rehearse-dev/rehearse/suites/faults"
)

// The files in which shards keep their results.
const (
	RunFile     = "run.json"
	FaultsFile  = faults.File
	ExploreFile = "explore.json"
	MatrixFile  = matrices.File
)

// Head is how all files of results begin that can be merged.
type Head struct {
	reports.Head

	Shard *reports.Shard `json:"shard"`
	// What only one of the files has: it tells them apart, whatever they are called.
	Trials json.RawMessage `json:"trials"`
	Kinds  json.RawMessage `json:"kinds"`
	Cells  json.RawMessage `json:"cells"`
}

// Kind of a file, by the name that such files have.
func (h *Head) Kind() string {
	switch {
	case h.Trials != nil:
		return FaultsFile
	case h.Kinds != nil:
		return ExploreFile
	case h.Cells != nil:
		return MatrixFile
	}
	return RunFile
}

// FileIn is the file of results in a report folder; a path of a file is the file itself.
func FileIn(path string) (string, error) {
	if !cli.IsFolder(path) {
		return path, nil
	}
	var found []string
	for _, name := range []string{RunFile, FaultsFile, ExploreFile, MatrixFile} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			found = append(found, file)
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("read a report folder: %w", err)
		}
	}
	switch len(found) {
	case 0:
		return filepath.Join(path, RunFile), nil // to read it says that it is missing
	case 1:
		return found[0], nil
	}
	if len(found) == 2 && isMatrix(found[0], found[1]) {
		return found[1], nil
	}
	return "", fmt.Errorf("the report folder %s has the results of several commands: name one of %s", path,
		strings.Join(found, ", "))
}

// isMatrix says whether a run.json is the run of a matrix.json: both are of one command.
func isMatrix(run, matrix string) bool {
	of, _, err1 := ReadHead(run)
	is, _, err2 := ReadHead(matrix)
	return errors.Join(err1, err2) == nil && of.Kind() == RunFile && is.Kind() == MatrixFile && of.Command == is.Command
}

// ReadHead reads the head of a file of results, or of the one in a report folder.
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
