package matrices

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/folder"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// File is the file name of a matrix.
const File = "matrix.json"

// MarkdownFile is the name of the matrix as Markdown in the report folder.
const MarkdownFile = "matrix.md"

// Write writes matrix.json, matrix.md and more files, by their names, into a folder.
func Write(dir string, r *Report, more map[string][]byte) error {
	text, err := folder.JSON(r)
	if err != nil {
		return err
	}
	files := map[string][]byte{File: text, MarkdownFile: []byte(markdown(r))}
	for name, data := range more {
		files[name] = data
	}
	return folder.Write(dir, files)
}

// markdown returns the report for a page: a table for each scenario, and why cells are not passed.
func markdown(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n", plain.Cell(r.Sentence()))
	for i, text := range r.Broken {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", plain.Cell(text))
	}
	for _, scenario := range r.Scenarios {
		fmt.Fprintf(&b, "\n#### %s\n\n| %s |", plain.Cell(scenario), plain.Cell(r.System))
		for _, kubernetes := range r.Kubernetes {
			fmt.Fprintf(&b, " %s |", plain.Cell(kubernetes))
		}
		b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(r.Kubernetes)) + "\n")
		for _, version := range r.Versions {
			fmt.Fprintf(&b, "| %s |", plain.Cell(version))
			for _, kubernetes := range r.Kubernetes {
				cell := r.Cell(scenario, version, kubernetes)
				fmt.Fprintf(&b, " %s |", strings.TrimSpace(mark(cell)+" "+word(cell)))
			}
			b.WriteString("\n")
		}
		for i, reason := range r.Reasons(scenario) {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- **%s**, %s: %s\n", Word(reason.Status), plain.Cell(reason.Where), plain.Cell(reason.Text))
		}
	}
	if r.Command != "" {
		fmt.Fprintf(&b, "\n    %s\n", plain.OneLine(r.Command))
	}
	return b.String()
}

func mark(cell *Cell) string {
	if cell == nil {
		return ""
	}
	return map[reports.Status]string{
		reports.Passed: "✅", reports.Failed: "❌", reports.Error: "💥", reports.Known: "🔶", reports.Skipped: "⚪",
		reports.NotRun: "⚪", Unstable: "🎲",
	}[known(cell.Status)]
}
