package merge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// inLogs are the reports of several logs.
type inLogs struct {
	progress func(string, ...any)
	order    []shardOfRun
	shards   map[shardOfRun]*attempts
	// broken are the reports that cannot be read. readable has the pods that have others. The pods of all attempts at a
	// shard of a Job have the same hostname.
	broken   []*inlog.BrokenError
	readable map[string]bool
}

// shardOfRun identifies a shard. A report of another run is no attempt at the same shard: it stays, and the merge
// rejects it.
type shardOfRun struct {
	shard   reports.Shard
	program string
}

// attempts are the reports of a shard. Each attempt reports its planned run and, if it ends, its result.
type attempts struct {
	begun, ended int
	// latest is the report that counts. folder contains it.
	latest *pastruns.Head
	folder string
}

// read reads the reports in a log. It returns an error if there is none.
func (l *inLogs) read(log, dir string) error {
	file, err := os.Open(log)
	if err != nil {
		return fmt.Errorf("read a log: %w", err)
	}
	defer file.Close()
	found, broke := 0, len(l.broken)
	var reader inlog.Reader
	for lines := bufio.NewReader(file); ; {
		line, readErr := lines.ReadString('\n')
		_, report, err := reader.Line(line)
		var broken *inlog.BrokenError
		switch {
		case errors.As(err, &broken):
			l.broken = append(l.broken, &inlog.BrokenError{ID: broken.ID, Err: fmt.Errorf("%s: %w", log, err)})
		case report != nil:
			if err := l.add(log, filepath.Join(dir, strconv.Itoa(found)), report); err != nil {
				return err
			}
			found++
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return fmt.Errorf("read a log: %w", readErr)
		}
	}
	for _, id := range reader.Unfinished() {
		l.broken = append(l.broken, &inlog.BrokenError{
			ID: id, Err: fmt.Errorf("%s: the report of %s has no end in this log", log, id),
		})
	}
	if found == 0 && broke == len(l.broken) {
		return fmt.Errorf("%s is neither a run.json nor the log of a pod of rehearse job: it contains no report", log)
	}
	return nil
}

// add unpacks a report of a log into a folder.
func (l *inLogs) add(log, folder string, report *inlog.Report) error {
	if err := report.Unpack(folder); err != nil {
		return err
	}
	run, _, err := pastruns.ReadHead(folder)
	if err != nil {
		return fmt.Errorf("%s: the report of %s: %w", log, report.ID, err)
	}
	if run.Shard == nil {
		return fmt.Errorf("%s: the report of %s does not belong to a shard", log, report.ID)
	}
	l.readable[report.ID] = true
	key := shardOfRun{*run.Shard, run.Program}
	of := l.shards[key]
	if of == nil {
		of = &attempts{}
		l.order, l.shards[key] = append(l.order, key), of
	}
	if run.Ended().IsZero() {
		of.begun++
	} else {
		of.ended++
	}
	if run.Replaces(of.latest) {
		of.latest, of.folder = run, folder
	}
	return nil
}

// folders returns the folder of each shard. It returns an error if a pod left nothing but a broken report.
func (l *inLogs) folders() ([]string, error) {
	for _, one := range l.broken {
		if !l.readable[one.ID] {
			return nil, one.Err
		}
		l.progress("%v; another report of %s counts", one.Err, one.ID)
	}
	var folders []string
	for _, key := range l.order {
		of := l.shards[key]
		if max(of.begun, of.ended) > 1 {
			counts := "the last attempt that ended counts"
			if of.ended == 0 {
				counts = "no attempt ended, and it is not judged"
			}
			l.progress("shard %d/%d ran more than once: %s", key.shard.Number, key.shard.Of, counts)
		}
		folders = append(folders, of.folder)
	}
	return folders, nil
}
