package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// Run runs a command of rehearse, and returns its exit code.
type Run func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// shard is the work of one pod.
type shard struct {
	index   string // JOB_COMPLETION_INDEX
	of      int
	files   string
	results string // folder with a folder for each shard's report; "" if the report stays in the pod
	pod     string
	command []string
}

// run runs the shard, and prints its report: first that of the planned run, which is all that is known if the pod dies,
// and then the result. An interrupted shard prints no result, because it is retried.
func (s *shard) run(ctx context.Context, run Run, stdout, stderr io.Writer) error {
	index, err := strconv.Atoi(s.index)
	if err != nil || index < 0 || index >= s.of {
		return fmt.Errorf("JOB_COMPLETION_INDEX is %q, want a number from 0 to %d: this command runs in a pod of an "+
			"Indexed Job",
			s.index, s.of-1)
	}
	work, remove, err := scratch.Folder("shard")
	if err != nil {
		return cli.Broken(fmt.Errorf("make a folder for the shard: %w", err))
	}
	defer func() { _ = remove() }() // the pod ends
	report, err := s.report(work, index)
	if err != nil {
		return cli.Broken(err)
	}
	if s.files != "" {
		if err := s.unpack(filepath.Join(work, "files")); err != nil {
			return cli.Broken(err)
		}
	}
	args := slices.Concat(s.command[:1],
		[]string{"--shard", fmt.Sprintf("%d/%d", index+1, s.of), "--report-dir", report}, s.command[1:])
	planned := cli.WithPlanned(ctx, func() error { return s.print(stdout, stderr, report) })
	code := run(planned, args, stdout, stderr)
	if code == cli.ExitInterrupted {
		return &cli.ExitError{Code: code}
	}
	if err := errors.Join(s.print(stdout, stderr, report), replaceEarlier(report)); err != nil {
		return cli.Broken(err)
	}
	if code != cli.ExitOK {
		return &cli.ExitError{Code: code}
	}
	return nil
}

// unsettled ends the name of a report's folder while an earlier attempt's finished report is beside it.
const unsettled = ".new"

// report returns the folder of the report. The finished report of an earlier attempt at the shard stays until this one
// has a finished report, too, because the pod may be killed. An unfinished one is removed.
func (s *shard) report(work string, index int) (string, error) {
	if s.results == "" {
		return filepath.Join(work, "report"), nil
	}
	folder := filepath.Join(s.results, fmt.Sprintf("shard-%d", index+1))
	if planned := (&pastruns.Head{}); !planned.Replaces(headIn(folder)) {
		folder += unsettled
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(s.results, 0o770)); err != nil {
		return "", fmt.Errorf("make the folder for the reports in the volume of --results-claim; group %d must be able to "+
			"write there: %w", user, err)
	}
	return folder, nil
}

// headIn returns the head of the report in a folder; nil if there is none that can be read.
func headIn(folder string) *pastruns.Head {
	head, _, err := pastruns.ReadHead(folder)
	if err != nil {
		return nil
	}
	return head
}

// replaceEarlier replaces the finished report of an earlier attempt beside this one, if this one counts instead.
func replaceEarlier(report string) error {
	earlier, beside := strings.CutSuffix(report, unsettled)
	if !beside {
		return nil
	}
	if head := headIn(report); head == nil || !head.Replaces(headIn(earlier)) {
		return os.RemoveAll(report)
	}
	if err := errors.Join(os.RemoveAll(earlier), os.Rename(report, earlier)); err != nil {
		return fmt.Errorf("replace the report of the shard's earlier attempt: %w", err)
	}
	return nil
}

// unpack unpacks the files that the command reads, and makes their folder the current one.
func (s *shard) unpack(dir string) error {
	archive, err := os.Open(s.files)
	if err != nil {
		return fmt.Errorf("read what the shard runs: %w", err)
	}
	defer archive.Close()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := inlog.Unpack(archive, dir); err != nil {
		return fmt.Errorf("unpack %s: %w", s.files, err)
	}
	return os.Chdir(dir)
}

// print prints the report into the log. If there is none, the command has already said why.
func (s *shard) print(stdout, stderr io.Writer, report string) error {
	head, file, err := pastruns.ReadHead(report)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var artifacts []string
	if head.Kind() == pastruns.RunFile {
		if artifacts, err = left(report, file); err != nil {
			return err
		}
	}
	lost, err := inlog.Write(stdout, s.pod, report, filepath.Base(file), artifacts, inlog.Limit)
	if err == nil && len(lost) > 0 {
		fmt.Fprintf(stderr, "%d of %d files of scenarios do not fit into the log, and are lost with the pod\n",
			len(lost), len(artifacts))
	}
	return err
}

// left returns the files that the scenarios of a run left in its report folder.
func left(report, file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var run reports.Run
	if err := json.Unmarshal(data, &run); err != nil {
		return nil, fmt.Errorf("read the shard's run.json: %w", err)
	}
	var artifacts []string
	for _, track := range run.Tracks {
		for _, scenario := range track.Scenarios {
			for _, name := range scenario.Artifacts {
				if _, err := os.Stat(filepath.Join(report, filepath.FromSlash(name))); err == nil {
					artifacts = append(artifacts, name)
				}
			}
		}
	}
	return artifacts, nil
}
