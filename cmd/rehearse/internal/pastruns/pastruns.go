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

// Read reads runs, and merges them into one. The files of a run are in the folder with its number.
func Read(paths ...string) (*reports.Run, fs.FS, error) {
	parts, where, err := Parts(paths)
	if err != nil {
		return nil, nil, err
	}
	if len(where) == 1 {
		return reports.Merge(parts), where[0], nil
	}
	return reports.Merge(parts), where, nil
}

// Parts reads runs, each with its folder.
func Parts(paths []string) ([]reports.Part, Folders, error) {
	var parts []reports.Part
	var where Folders
	for i, path := range paths {
		if cli.IsFolder(path) {
			path = filepath.Join(path, "run.json")
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read a run: %w", err)
		}
		run, err := reports.Read(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		part := reports.Part{Run: run, From: path}
		if len(paths) > 1 {
			part.Prefix = strconv.Itoa(i)
		}
		parts = append(parts, part)
		where = append(where, os.DirFS(filepath.Dir(path)))
	}
	return parts, where, nil
}

// Folders are several report folders, each under its number.
type Folders []fs.FS

// Open opens NUMBER/PATH.
func (f Folders) Open(name string) (fs.File, error) {
	number, rest, _ := strings.Cut(name, "/")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(f) || rest == "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f[i].Open(rest)
}
