package merge

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// withLogs replaces logs of pods by the report folders in them. remove deletes these folders.
func withLogs(paths []string, progress func(string, ...any)) (folders []string, remove func(), err error) {
	var logs []string
	for _, path := range paths {
		isLog, err := looksLikeALog(path)
		if err != nil {
			return nil, nil, err
		}
		if isLog {
			logs = append(logs, path)
			continue
		}
		folders = append(folders, path)
	}
	if len(logs) == 0 {
		return folders, func() {}, nil
	}
	dir, discard, err := scratch.Folder("merge")
	if err != nil {
		return nil, nil, fmt.Errorf("unpack the reports of the logs: %w", err)
	}
	remove = func() { _ = discard() } // the next run tries again
	latest, err := unpackLogs(logs, dir, progress)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return append(folders, latest...), remove, nil
}

// looksLikeALog reports whether a file is anything but JSON.
func looksLikeALog(path string) (bool, error) {
	if cli.IsFolder(path) {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read a run: %w", err)
	}
	defer file.Close()
	start := make([]byte, 512)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read a run: %w", err)
	}
	return !bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte("{")), nil
}

// unpackLogs unpacks each report in the logs into a folder. If there are several attempts at a shard, it returns only
// the one that ended last.
func unpackLogs(logs []string, dir string, progress func(string, ...any)) ([]string, error) {
	// A report of another run is no attempt at the same shard: it stays, and the merge rejects it.
	type attempt struct {
		shard   reports.Shard
		program string
	}
	var order []attempt
	latest, folder := map[attempt]*pastruns.Head{}, map[attempt]string{}
	for i, log := range logs {
		found, err := reportsIn(log)
		if err != nil {
			return nil, err
		}
		for j, report := range found {
			to := filepath.Join(dir, strconv.Itoa(i), strconv.Itoa(j), report.ID)
			if err := report.Unpack(to); err != nil {
				return nil, err
			}
			run, _, err := pastruns.ReadHead(to)
			if err != nil {
				return nil, fmt.Errorf("%s: the report of %s: %w", log, report.ID, err)
			}
			if run.Shard == nil {
				return nil, fmt.Errorf("%s: the report of %s does not belong to a shard", log, report.ID)
			}
			key := attempt{*run.Shard, run.Program}
			if latest[key] == nil {
				order = append(order, key)
			} else {
				progress("shard %d/%d ran more than once: the last attempt counts", run.Shard.Number, run.Shard.Of)
				if !run.Finished.After(latest[key].Finished) {
					continue
				}
			}
			latest[key], folder[key] = run, to
		}
	}
	var folders []string
	for _, key := range order {
		folders = append(folders, folder[key])
	}
	return folders, nil
}

// reportsIn returns the reports in a log. It returns an error if there is none, or if one is broken.
func reportsIn(path string) ([]*inlog.Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a log: %w", err)
	}
	defer file.Close()
	var found []*inlog.Report
	var reader inlog.Reader
	for lines := bufio.NewReader(file); ; {
		line, readErr := lines.ReadString('\n')
		_, report, err := reader.Line(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if report != nil {
			found = append(found, report)
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return nil, fmt.Errorf("read a log: %w", readErr)
		}
	}
	if left := reader.Unfinished(); len(left) > 0 {
		return nil, fmt.Errorf("%s: the report of %s has no end in this log", path, left[0])
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s is neither a run.json nor the log of a pod of rehearse job: it contains no report",
			path)
	}
	return found, nil
}
