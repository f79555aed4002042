// Package formats lists the reports of a run. A new report is a package, and an entry here.
package formats

import (
	"io/fs"
	"os"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// Format is one report of a run.
type Format struct {
	// Name of its command, rehearse report NAME, and a short help; "" for no command.
	Name, Short string
	// Output is the default output of the command; "" is standard output.
	Output string
	// File that each run writes into its report folder; "" if a run does not write the report.
	File string
	// Encode writes the report.
	Encode func(*reports.Run, Folder) ([]byte, error)
}

// Folder is the report folder of a run.
type Folder struct {
	// Files has the histories and logs of the scenarios; nil if there are none yet.
	Files fs.FS
	// Link returns the path from the report to one of the files; "" if there is none.
	Link func(file string) string
	// Attach returns how JUnit names a file so that the CI system shows it; nil outside of a CI system.
	Attach func(file string) string
}

// All lists the reports.
func All() []Format {
	return []Format{
		{
			Name: "html", Short: "Write a run as one HTML file", Output: page.File, File: page.File,
			Encode: func(run *reports.Run, in Folder) ([]byte, error) { return page.Of(run, in.Files, in.Link) },
		},
		{
			Name: "markdown", Short: "Write a run as Markdown, for a CI job's summary",
			Encode: func(run *reports.Run, _ Folder) ([]byte, error) { return []byte(reports.Markdown(run)), nil },
		},
		{
			Name: "junit", Short: "Write a run as JUnit XML", File: "junit.xml",
			Encode: func(run *reports.Run, in Folder) ([]byte, error) {
				if in.Attach != nil {
					return reports.JUnitAttaching(in.Attach)(run)
				}
				return reports.JUnit(run)
			},
		},
		{
			File:   "run.json",
			Encode: func(run *reports.Run, _ Folder) ([]byte, error) { return reports.JSON(run) },
		},
	}
}

// InFolder lists the reports that a run writes into its report folder. Those of an unfinished run do not read the files
// in the folder.
func InFolder(dir string, attach func(file string) string) []reports.FileFormat {
	var all []reports.FileFormat
	for _, format := range All() {
		if format.File == "" {
			continue
		}
		all = append(all, reports.FileFormat{File: format.File, Encode: func(run *reports.Run) ([]byte, error) {
			in := Folder{Link: page.Beside, Attach: attach}
			if !run.Finished.IsZero() {
				in.Files = os.DirFS(dir)
			}
			return format.Encode(run, in)
		}})
	}
	return all
}
