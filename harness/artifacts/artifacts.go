// Package artifacts writes a scenario's files to the report folder: its history, and the logs of components.
package artifacts

import (
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
)

// Folder is where a scenario writes files.
type Folder struct {
	// ReportDir is the report folder, "" for none. ID is the scenario's, and the name of its folder there.
	ReportDir, ID string
	// Progress receives messages about files that could not be written.
	Progress clusters.Progress
}

// Left are the files of a scenario.
type Left struct {
	// Files are relative to the report folder.
	Files []string
	// Folder contains the files. It is relative to the working directory if it is below it.
	Folder string
}

// Leave writes files into the folder, if there is one. write calls keep for each file, with its error if any.
func (f Folder) Leave(write func(dir string, keep func(name string, err error))) Left {
	if f.ReportDir == "" {
		return Left{}
	}
	path := filepath.Join(f.ReportDir, f.ID)
	left := Left{Folder: fromHere(path)}
	keep := func(name string, err error) {
		if err != nil {
			f.Progress("no %s of scenario %s: %v", name, f.ID, err)
			return
		}
		left.Files = append(left.Files, filepath.ToSlash(filepath.Join(f.ID, name)))
	}
	err := reports.WriteArtifacts(path, func(dir string) error {
		write(dir, keep)
		return nil
	})
	if err != nil {
		f.Progress("no artifacts of scenario %s: %v", f.ID, err)
	}
	if len(left.Files) == 0 {
		return Left{}
	}
	return left
}

// fromHere returns a path relative to the working directory, if it is below it.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, absolute); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}
