// Package pastruns reads finished runs: their run.json, or the report folder that contains one.
package pastruns

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
)

// Read reads runs, and merges them into one.
func Read(paths ...string) (*reports.Run, Folders, error) {
	parts, where, err := Parts(paths)
	if err != nil {
		return nil, nil, err
	}
	missing, err := missingShards(parts)
	if err != nil {
		return nil, nil, err
	}
	merged := reports.Merge(parts)
	for _, shard := range missing {
		merged.Tracks = append(merged.Tracks, &reports.Track{Name: "shard " + shard, Setup: []*reports.Step{{
			Name: "report", Verb: "read", Status: reports.Error, Message: "its report is missing",
		}}})
	}
	return merged, where, nil
}

// missingShards returns the shards that are missing if several runs are shown, some of which are shards. A shard that
// is given twice is an error.
func missingShards(parts []reports.Part) ([]string, error) {
	var shards []reports.Part
	for _, part := range parts {
		if part.Run.Shard != nil {
			shards = append(shards, part)
		}
	}
	if len(parts) == 1 || len(shards) == 0 {
		return nil, nil
	}
	missing, err := reports.MissingShards(reports.Pieces(shards))
	if err != nil {
		return nil, fmt.Errorf("show the shards of a run: %w", err)
	}
	return missing, nil
}

// Parts reads runs, each with its folder.
func Parts(paths []string) ([]reports.Part, Folders, error) {
	var parts []reports.Part
	var where Folders
	for i, path := range paths {
		if cli.IsFolder(path) {
			path = filepath.Join(path, RunFile)
		}
		run, err := cli.Read("a run", path, reports.Read)
		if err != nil {
			return nil, nil, err
		}
		part := reports.Part{Run: run, From: path}
		if len(paths) > 1 {
			part.Prefix = strconv.Itoa(i)
		}
		parts = append(parts, part)
		where = append(where, filepath.Dir(path))
	}
	return parts, where, nil
}

// Folders are the report folders of runs. The files of several runs are each in the folder with the run's number.
type Folders []string

// Open opens PATH, or NUMBER/PATH of several runs.
func (f Folders) Open(name string) (fs.File, error) {
	dir, rest, ok := f.find(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return os.DirFS(dir).Open(rest)
}

// Path returns the path of an existing file; "" for another one.
func (f Folders) Path(name string) string {
	dir, rest, ok := f.find(name)
	if !ok {
		return ""
	}
	if _, err := fs.Stat(os.DirFS(dir), rest); err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(rest))
}

// find returns the folder of a file, and its path there.
func (f Folders) find(name string) (dir, rest string, ok bool) {
	if len(f) == 1 {
		return f[0], name, true
	}
	number, rest, _ := strings.Cut(name, "/")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(f) || rest == "" {
		return "", "", false
	}
	return f[i], rest, true
}
