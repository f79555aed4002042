// Package merge merges the shards of a run.
package merge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// Command merges shards.
func Command() *cobra.Command {
	var out string
	command := &cobra.Command{
		Use:   "merge RESULT|FOLDER|LOG...",
		Short: "Merge the reports of all shards into one",
		Long: `Merge merges the report folders of all shards (--shard) of rehearse run, conformance, faults,
explore, upgrade or matrix into one. Each shard must be present exactly once, and all have the same
input and the same version of rehearse. --output must be another folder than those of the shards. If
a shard ended early, its remaining scenarios are not judged. A LOG is the output of "kubectl logs"
for pods of rehearse job. If the Job retried a shard, the last attempt that ended counts. A shard of
which no attempt ended is not judged.

Exit codes: those of the command of the shards; 3 if a shard ended early, or a scenario cannot be
planned; 2 if a shard is missing, duplicate or from another run.`,
		Example: `  rehearse run --shard 1/2 --report-dir shard-1 scenarios
  rehearse run --shard 2/2 --report-dir shard-2 scenarios
  rehearse merge shard-1 shard-2 -o merged
  kubectl logs --tail=-1 --max-log-requests=50 -l batch.kubernetes.io/job-name=rehearse > job.log
  rehearse merge job.log -o merged`,
		Args: cli.Named("the result of each shard (run.json, faults.json, explore.json, upgrade.json, matrix.json), " +
			"its report folder, or the log of its pod"),
		RunE: func(command *cobra.Command, args []string) error {
			folders, remove, err := withLogs(args, cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return errors.Join(err, Forget(args, out))
			}
			defer remove()
			return Shards(command, folders, out)
		},
	}
	command.Flags().StringVarP(&out, "output", "o", "rehearse-report", "folder for the merged reports")
	return command
}

// Shards merges the results of all shards into one report folder, whatever command they are from. If they cannot be
// merged, it removes the report of an earlier merge from the folder.
func Shards(command *cobra.Command, paths []string, out string) error {
	err := shards(command, paths, out)
	if err != nil && cli.CodeOf(err) == cli.ExitInput {
		return errors.Join(err, Forget(paths, out))
	}
	return err
}

func shards(command *cobra.Command, paths []string, out string) error {
	kind := ""
	var files []string
	var heads []*pastruns.Head
	for _, path := range paths {
		head, file, err := pastruns.ReadHead(path)
		if err != nil {
			return err
		}
		if kind != "" && head.Kind() != kind {
			return fmt.Errorf("merge shards: %s is a %s, and %s a %s: they are not parts of the same "+
				"run", files[0], kind, file,
				head.Kind())
		}
		kind, files, heads = head.Kind(), append(files, file), append(heads, head)
		if ownPrograms(head) != ownPrograms(heads[0]) {
			return fmt.Errorf("merge shards: only one of %s and %s used --kubernetes-bin: they are not parts of the same run",
				files[0], file)
		}
	}
	if err := spared(files, out); err != nil {
		return err
	}
	warnOfBuilds(command, heads, files)
	switch kind {
	case pastruns.FaultsFile:
		return trials(command, files, out)
	case pastruns.ExploreFile:
		return explored(command, files, out)
	case pastruns.MatrixFile:
		return cells(command, files, out)
	case pastruns.UpgradeFile:
		return upgraded(command, files, out)
	default:
		run, unfinished, err := runs(command, files, out, page.File)
		if err != nil {
			return err
		}
		return end(command, run, out, reports.ExitCode(run), unfinished)
	}
}

// ownPrograms reports whether a shard ran Kubernetes programs of the user's own. Their versions look like releases.
func ownPrograms(head *pastruns.Head) bool { return strings.Contains(head.Command, "--kubernetes-bin") }

// warnOfBuilds prints a warning if different programs may have written the shards, and their version does not show it.
// It is no error: builds of one commit in different folders differ, too.
func warnOfBuilds(command *cobra.Command, heads []*pastruns.Head, files []string) {
	for i, head := range heads {
		if i == 0 || head.Program != heads[0].Program || cli.SameProgram(heads[0].Head, head.Head) {
			continue
		}
		fmt.Fprintf(command.ErrOrStderr(), "warning: %s and %s may be the results of different programs: the version %s "+
			"does not identify a program, and their builds differ or are unknown. Use one binary for all shards, or build it "+
			"from a commit without changes (go run -buildvcs=true)\n", files[0], files[i], head.Program)
		return
	}
}

// spared returns an error if the merge would write into the folder of a shard: it would first remove the shard's files.
func spared(files []string, out string) error {
	written := []string{out}
	for i := range files {
		written = append(written, filepath.Join(out, folderOf(i+1)))
	}
	for _, to := range written {
		target, err := os.Stat(to)
		if err != nil {
			continue // it does not exist, so it is no shard's; or writing it fails
		}
		for _, file := range files {
			from, err := os.Stat(filepath.Dir(file))
			if err == nil && os.SameFile(from, target) {
				return fmt.Errorf("merge shards into %s: the merge would overwrite the shard in %s; choose another folder "+
					"with --output", out, filepath.Dir(file))
			}
		}
	}
	return nil
}

// folderOf is the folder of a shard's artifacts in the merged report folder.
func folderOf(shard int) string { return fmt.Sprintf("shard-%d", shard) }

// end passes the merged run to the CI system, and returns how the merge ends: shards that ended early outweigh the exit
// code.
func end(command *cobra.Command, run *reports.Run, out string, code int, unfinished error) error {
	published := session.Publish(command, run, ci.Report{Dir: out})
	if unfinished != nil {
		return cli.Broken(errors.Join(unfinished, published))
	}
	return session.End(code, published)
}

// runs merges run.json files. It prints the path of the page, and also returns an error for shards that ended early.
func runs(command *cobra.Command, from []string, out, pageFile string) (run *reports.Run, unfinished, err error) {
	parts, where, err := pastruns.Parts(from)
	if err != nil {
		return nil, nil, err
	}
	for i, part := range parts {
		if part.Run.Shard != nil {
			parts[i].Prefix = folderOf(part.Run.Shard.Number)
		}
	}
	if run, err = reports.MergeShards(parts); err != nil {
		return nil, nil, err
	}
	foldersIn(run, out)
	shown := terminal.New(cli.TerminalConfig(command.OutOrStdout(), filepath.Join(out, pageFile)))
	defer shown.Close()
	files := session.Files(out)
	if err := files.Observe(reports.Event{Kind: reports.RunStarted, Run: run}); err != nil {
		return nil, nil, cli.Broken(err)
	}
	for i, part := range parts {
		if err := copyArtifacts(part, os.DirFS(where[i]), filepath.Join(out, part.Prefix), shown.Progress); err != nil {
			return nil, nil, cli.Broken(err)
		}
	}
	forgetMissing(run, out)
	finished := *run // a copy: the files hold a pointer to run
	for _, observer := range []reports.Observer{files, shown} {
		if err := observer.Observe(reports.Event{Kind: reports.RunFinished, At: run.Finished, Run: &finished}); err != nil {
			return nil, nil, cli.Broken(err)
		}
	}
	return run, reports.Unfinished(reports.Pieces(parts)), nil
}

// forgetMissing removes files that no shard had from the lists of the scenarios' files: reports link them.
func forgetMissing(run *reports.Run, out string) {
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			s.Artifacts = slices.DeleteFunc(slices.Clone(s.Artifacts), func(name string) bool {
				_, err := os.Stat(filepath.Join(out, filepath.FromSlash(name)))
				return errors.Is(err, fs.ErrNotExist)
			})
		}
	}
}

// foldersIn sets the folders of the scenarios' artifacts. A shard's own folder may be on another machine.
func foldersIn(run *reports.Run, out string) {
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if len(s.Artifacts) > 0 && s.Folder != "" {
				s.Folder = filepath.Join(out, filepath.FromSlash(path.Dir(s.Artifacts[0])))
			}
		}
	}
}

// copyArtifacts copies the files that the scenarios of a shard left. A missing file is reported, but is no error: the
// verdicts are in run.json.
func copyArtifacts(part reports.Part, from fs.FS, to string, progress func(string, ...any)) error {
	var names []string
	for _, track := range part.Run.Tracks {
		for _, s := range track.Scenarios {
			names = append(names, s.Artifacts...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return reports.WriteArtifacts(to, func(dir string) error {
		missing := 0
		for _, name := range names {
			data, err := fs.ReadFile(from, path.Clean(name))
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
				missing++
				continue
			}
			if err != nil {
				return fmt.Errorf("copy the files of a scenario: %w", err)
			}
			file := filepath.Join(dir, filepath.FromSlash(path.Clean(name)))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return fmt.Errorf("copy the files of a scenario: %w", err)
			}
			if err := os.WriteFile(file, data, 0o644); err != nil {
				return fmt.Errorf("copy the files of a scenario: %w", err)
			}
		}
		if missing > 0 {
			progress("%s: %d of %d files of its scenarios are missing in its report folder", part.From, missing, len(names))
		}
		return nil
	})
}

// finish writes a merged report, and returns how the merge ends: shards that ended early outweigh the report's exit
// code.
func finish(command *cobra.Command, shards []reports.Piece, out string, merged interface {
	Finish(command *cobra.Command, failure error) error
},
) error {
	unlock, err := reports.LockFolder(out)
	if err != nil {
		return cli.Broken(err)
	}
	defer unlock()
	unfinished := reports.Unfinished(shards)
	err = merged.Finish(command, unfinished)
	if unfinished != nil {
		return cli.Broken(err)
	}
	return err
}
