package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// StartError is a component that does not start with what it was given.
type StartError struct {
	Component clusters.Component
	// Line is what its own log says of it.
	Line string
}

func (e *StartError) Error() string {
	if e.Line == "" {
		return fmt.Sprintf("%s does not start, and says nothing", e.Component)
	}
	return fmt.Sprintf("%s does not start: %s", e.Component, e.Line)
}

// doesNotStart is a *clusters.BrokenError over a *StartError: of a component whose log ends like that.
func doesNotStart(component clusters.Component, log string) error {
	return &clusters.BrokenError{Component: component, Words: plain(log), Err: &StartError{Component: component, Line: decisive(log) + remedy(log)}}
}

// plain is a log without what containerd wrote before each line.
func plain(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		lines = append(lines, said(line))
	}
	return strings.Join(lines, "\n")
}

// lateError says that something did not come in far more time than it takes.
type lateError struct {
	what string
	last error
}

func (e *lateError) Error() string {
	return fmt.Sprintf("%s: still not there after %s: %v", e.what, patience, e.last)
}

func (e *lateError) Unwrap() error { return e.last }

// lastWordsScript prints the end of what the newest container of a component has said.
const lastWordsScript = `ls -t /var/log/pods/kube-system_"$1"-*/"$1"/*.log | head -n 1 | xargs tail -n 30`

// blame tells, of a change that took more time than there is, which component runs and does not become ready: one that only waits for another is not to
// blame, so etcd is looked at first, and then the API server. An error that says so already stays as it is.
func (c *Cluster) blame(ctx context.Context, change *nodeChange, err error) error {
	var late *lateError
	var told *clusters.BrokenError
	if !errors.As(err, &late) || errors.As(err, &told) {
		return err
	}
	inOrder := slices.Clone(change.replacements)
	slices.SortStableFunc(inOrder, func(a, b *replacement) int { return needed(a.component) - needed(b.component) })
	for _, r := range inOrder {
		look, cancel := context.WithTimeout(ctx, oneLook)
		words := c.isNew(look, change, r)
		cancel()
		if words == nil {
			continue
		}
		log, logErr := change.node.shell(ctx, lastWordsScript, string(r.component))
		if logErr != nil {
			log = "its log cannot be read: " + logErr.Error()
		}
		return &clusters.BrokenError{Component: r.component, Words: words.Error() + "\n" + plain(log), Err: err}
	}
	return err
}

// needed is a component's place in the order in which they need each other.
func needed(component clusters.Component) int {
	switch component {
	case clusters.Etcd:
		return 0
	case clusters.APIServer:
		return 1
	}
	return 2
}
