// Package ci passes a run's reports to its CI system: GitHub Actions, GitLab, Jenkins, Prow. It detects them from their
// environment variables.
package ci

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// The limits of GitHub Actions: it drops a step's whole summary above 1 MiB, and shows only the first ten annotations.
const (
	summaryLimit    = 1<<20 - 1
	annotationLimit = 10
)

// Report is a report folder that a CI system gets.
type Report struct {
	// Dir is the report folder.
	Dir string
	// Part names the report if the command writes several; "" if it writes one.
	Part string
}

// Publish writes what the environment's CI system reads: GitHub's step summary and annotations, and Prow's artifacts
// and metadata.
func Publish(run *reports.Run, of Report, env func(string) string, out io.Writer) error {
	suffix := of.suffix(prowFolder(env))
	errs := []error{handOver(reports.Markdown(run), of, suffix, env)}
	if env("GITHUB_ACTIONS") == "true" {
		for _, line := range annotations(run, env("GITHUB_WORKSPACE")) {
			_, err := fmt.Fprintln(out, line)
			errs = append(errs, err)
		}
	}
	if folder := prowFolder(env); folder != "" {
		errs = append(errs, prowMetadata(run, suffix, folder))
	}
	return errors.Join(errs...)
}

// HandOver gives the environment's CI system what every report has: Markdown for GitHub's step summary, and the files
// of a report folder for Prow's artifacts.
func HandOver(markdown string, of Report, env func(string) string) error {
	return handOver(markdown, of, of.suffix(prowFolder(env)), env)
}

func handOver(markdown string, of Report, suffix string, env func(string) string) error {
	var errs []error
	if file := env("GITHUB_STEP_SUMMARY"); file != "" {
		errs = append(errs, appendSummary(file, markdown))
	}
	if folder := prowFolder(env); folder != "" {
		errs = append(errs, prow(of, suffix, folder))
	}
	return errors.Join(errs...)
}

// prowFolder is the folder whose files Prow keeps; "" if the environment is not Prow's.
func prowFolder(env func(string) string) string {
	if env("PROW_JOB_ID") == "" {
		return ""
	}
	return env("ARTIFACTS")
}

// appendSummary appends as much as fits to the step's summary, which may already have other content.
func appendSummary(file, text string) error {
	room := summaryLimit
	if info, err := os.Stat(file); err == nil {
		room -= int(info.Size())
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the summary of the GitHub step: %w", err)
	}
	if _, err = io.WriteString(f, cut(text, room)); err != nil {
		err = fmt.Errorf("write the summary of the GitHub step: %w", err)
	}
	return errors.Join(err, f.Close())
}

const cutNote = "\n\n(Truncated: a summary is limited to 1 MiB. report.html and junit.xml are complete.)\n"

// cut shortens Markdown to a number of bytes at the end of a line, closes open blocks, and adds a note about it.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const closing = 100 // the end of a block is shorter
	room := most - len(cutNote) - closing
	if room <= 0 {
		return ""
	}
	kept := strings.ToValidUTF8(text[:room], "")
	if i := strings.LastIndexByte(kept, '\n'); i >= 0 {
		kept = kept[:i]
	}
	if i := strings.LastIndex(kept, "<details>"); i > strings.LastIndex(kept, "</details>") {
		open := fence.FindStringSubmatch(kept[i:])
		if len(open) > 0 && !strings.Contains(kept[i:]+"\n", "\n"+open[1]+"\n") {
			kept += "\n" + open[1] + "\n"
		}
		kept += "\n</details>"
	}
	return kept + cutNote
}

// fence is the line that begins the text of an explanation. The line that ends it has as many backticks.
var fence = regexp.MustCompile("(?m)^(`{3,60})text$")

// annotations are GitHub's error lines for scenarios that failed or are errors: at most ten, with files relative to
// the workspace.
func annotations(run *reports.Run, workspace string) []string {
	var lines []string
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if s.Status != reports.Failed && s.Status != reports.Error {
				continue
			}
			file, line, message := s.File, s.Line, reports.Headline(run, track, s)
			if i := reports.Decisive(s); i >= 0 {
				if f, l, ok := plain.Position(s.Steps[i].Position); ok {
					file, line = f, l
				}
			}
			file = inWorkspace(file, workspace)
			if len(lines) == annotationLimit {
				return lines
			}
			lines = append(lines, fmt.Sprintf("::error file=%s,line=%d,title=%s::%s", property(file), max(line, 1),
				property(s.Name+" "+reports.StatusWord(s.Status)), data(message)))
		}
	}
	return lines
}

// inWorkspace is the path of a file relative to the workspace, which need not be the working directory of the step. The
// path stays as it is if the file is elsewhere.
func inWorkspace(file, workspace string) string {
	absolute, err := filepath.Abs(file)
	if _, missing := os.Stat(absolute); workspace == "" || err != nil || !filepath.IsAbs(file) && missing != nil {
		return file
	}
	relative, err := filepath.Rel(workspace, absolute)
	if err != nil || !filepath.IsLocal(relative) {
		return file
	}
	return relative
}

// data and property escape the special characters of a workflow command.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// prow copies the reports into the folder that Prow keeps, under names that its lenses look for: junit*.xml, and
// *.html in an iframe.
func prow(of Report, suffix, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder of Prow's artifacts: %w", err)
	}
	var errs []error
	for from, to := range prowNames(suffix) {
		text, err := os.ReadFile(filepath.Join(of.Dir, from))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, to), text, 0o644)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("copy a report to Prow's artifacts: %w", err))
		}
	}
	return errors.Join(errs...)
}

// prowNames are the names of a report's files in the folder that Prow keeps.
func prowNames(suffix string) map[string]string {
	return map[string]string{
		"junit.xml": "junit_rehearse" + suffix + ".xml", "report.html": "rehearse-report" + suffix + ".html",
		"run.json": "rehearse-run" + suffix + ".json",
	}
}

// suffix keeps the names of files and values apart: those of a command's parts, and those of the commands of a job,
// which write into the same folder.
func (r Report) suffix(folder string) string {
	part := ""
	if r.Part != "" {
		part = "-" + r.Part
	}
	for suffix, n := part, 2; ; n++ {
		taken := false
		for _, name := range prowNames(suffix) {
			_, err := os.Stat(filepath.Join(folder, name))
			taken = taken || folder != "" && err == nil
		}
		if !taken {
			return suffix
		}
		suffix = fmt.Sprintf("%s-%d", part, n)
	}
}

// prowMetadata writes what Prow adds to the job's finished.json and shows in its metadata lens: one text for each
// name. Entries of other programs stay.
func prowMetadata(run *reports.Run, suffix, folder string) error {
	path, all := filepath.Join(folder, "metadata.json"), map[string]any{}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read the metadata of the Prow job: %w", err)
	default:
		if err := json.Unmarshal(text, &all); err != nil {
			return fmt.Errorf("read the metadata of the Prow job: %s: %w", path, err)
		}
	}
	var states []string
	for _, track := range run.Tracks {
		if way := strings.Join(track.Path, " -> "); !slices.Contains(states, way) {
			states = append(states, way)
		}
	}
	all["rehearse"] = run.Program
	all["rehearse-result"+suffix] = reports.Count(run).String()
	all["rehearse-states"+suffix] = strings.Join(states, "; ")
	all["rehearse-command"+suffix] = run.Command
	if text, err = json.MarshalIndent(all, "", "  "); err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the metadata of the Prow job: %w", err)
	}
	return nil
}

// Attachments returns how JUnit names a scenario's files so that the CI system shows them beside the case: GitLab by a
// path in the project, Jenkins by an absolute one. It returns nil for other systems. dir is the report folder.
func Attachments(dir string, env func(string) string) func(artifact string) string {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	project := env("CI_PROJECT_DIR")
	switch {
	case env("GITLAB_CI") != "" && project != "":
		return func(artifact string) string {
			path, err := filepath.Rel(project, filepath.Join(absolute, artifact))
			if err != nil || !filepath.IsLocal(path) {
				return "" // GitLab keeps only what is in the project
			}
			return "[[ATTACHMENT|" + filepath.ToSlash(path) + "]]"
		}
	case env("JENKINS_URL") != "":
		return func(artifact string) string { return "[[ATTACHMENT|" + filepath.Join(absolute, artifact) + "]]" }
	}
	return nil
}
