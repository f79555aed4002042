package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// follow reads a pod's log to its end. After a broken connection it reads the log again from the beginning.
func (g *gathering) follow(ctx context.Context, index int, name string, uid types.UID) {
	shown := 0
	var failing time.Time
	for ctx.Err() == nil {
		// This check comes before reading the log: if the pod had ended by then, the log is complete.
		ended, gone := g.ended(ctx, name, uid)
		if gone {
			return
		}
		if !ended && g.lingered.Err() != nil {
			g.note(index, name, "the Job has ended, and the pod has not; its log is not read further")
			return
		}
		err := g.readUntil(ctx, ended, index, name, &shown)
		if !ended && g.lingered.Err() != nil {
			continue // the pod may have ended meanwhile
		}
		if err == nil {
			failing = time.Time{}
			g.setUnread(index, "")
		} else if failing.IsZero() {
			failing = time.Now()
		}
		if err == nil && ended || err != nil && g.givesUp(ctx, index, name, ended, time.Since(failing), err) {
			return
		}
		pauses.For(ctx, g.interval)
	}
}

// givesUp records and shows why a log cannot be read. It reports whether another attempt is useless: without the
// permission, or if nothing more is written to the log and it has not been readable for so long.
func (g *gathering) givesUp(ctx context.Context, index int, pod string, ended bool, failing time.Duration,
	err error,
) bool {
	if ctx.Err() != nil {
		return true
	}
	why := fmt.Sprintf("pod %s: cannot read the log: %v", pod, err)
	if g.setUnread(index, why) {
		g.say(index, why)
	}
	g.mu.Lock()
	over := ended || g.over
	g.mu.Unlock()
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || over && failing >= g.patience
}

// setUnread records why the log of a shard's pod cannot be read; "" if it can. It reports whether that is new.
func (g *gathering) setUnread(index int, why string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	fresh := g.unread[index] != why
	g.unread[index] = why
	return fresh
}

// ended reports whether a pod's container has ended, and whether the pod no longer exists.
func (g *gathering) ended(ctx context.Context, name string, uid types.UID) (ended, gone bool) {
	pod, err := g.client.CoreV1().Pods(g.namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && pod.UID != uid {
		return true, true
	}
	return err == nil && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed), false
}

// readUntil reads a log. If the pod has not ended, it stops when the pod has outlasted its Job for too long.
func (g *gathering) readUntil(ctx context.Context, ended bool, index int, pod string, shown *int) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	if !ended {
		defer context.AfterFunc(g.lingered, stop)()
	}
	return g.read(reading, index, pod, shown)
}

// read reads a log from its beginning, and shows the lines that were not shown before.
func (g *gathering) read(ctx context.Context, index int, pod string, shown *int) error {
	log, err := g.client.CoreV1().Pods(g.namespace).GetLogs(pod, &v1.PodLogOptions{
		Follow: true, Container: containerName,
	}).Stream(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	var reader inlog.Reader
	lines := bufio.NewReader(log)
	for n := 0; ; n++ {
		line, err := lines.ReadString('\n')
		if line != "" {
			g.line(index, pod, line, &reader, n >= *shown)
			*shown = max(*shown, n+1)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line handles one line of a pod's log.
func (g *gathering) line(index int, pod, line string, reader *inlog.Reader, fresh bool) {
	ours, report, err := reader.Line(line)
	switch {
	case !ours && fresh:
		g.say(index, strings.TrimRight(line, "\r\n"))
	case err != nil:
		g.note(index, pod, err.Error())
	case report != nil:
		if err := g.keep(index, pod, report); err != nil {
			g.note(index, pod, err.Error())
		}
	}
}

// keep unpacks a report of an attempt at a shard, and discards it if another one counts, whatever is read last.
func (g *gathering) keep(index int, pod string, report *inlog.Report) error {
	folder := g.folder(index, pod)
	fresh := folder + ".new" // a log may be read again, and the planned run must not replace the result
	if err := errors.Join(os.RemoveAll(fresh), report.Unpack(fresh)); err != nil {
		return err
	}
	head, _, err := pastruns.ReadHead(fresh)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !head.Replaces(g.reports[index].head) {
		return os.RemoveAll(fresh)
	}
	g.reports[index] = attempt{folder, head}
	return errors.Join(os.RemoveAll(folder), os.Rename(fresh, folder))
}
