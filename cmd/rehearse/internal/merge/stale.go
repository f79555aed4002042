package merge

import (
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/matrix"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/matrices"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Forget removes the reports of an earlier merge from the folder for merged reports: they would look like the result of
// a merge that failed. It leaves the reports of other commands, and a folder that has one of the paths to merge.
func Forget(paths []string, out string) error {
	head, _, err := pastruns.ReadHead(out)
	if err != nil || head.Shard != nil || !strings.Contains(head.Command, "--shard") {
		return nil //nolint:nilerr // there is no merged report
	}
	for _, path := range paths {
		within, err := filepath.Rel(resolved(out), resolved(path))
		if err != nil || filepath.IsLocal(within) {
			return err
		}
	}
	return session.RemoveReports([]string{out}, pastruns.FaultsFile, pastruns.ExploreFile, explorations.MarkdownFile,
		pastruns.MatrixFile, matrices.MarkdownFile, matrix.PageFile, pastruns.UpgradeFile, upgrades.MarkdownFile)
}

// resolved is a path without symbolic links, as far as it exists.
func resolved(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if target, err := filepath.EvalSymlinks(absolute); err == nil {
		return target
	}
	if filepath.Dir(absolute) == absolute {
		return absolute
	}
	return filepath.Join(resolved(filepath.Dir(absolute)), filepath.Base(absolute))
}
