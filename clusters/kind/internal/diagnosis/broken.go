// Package diagnosis finds out why a component or a cluster does not start, from logs, disks and limits.
package diagnosis

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// StartError reports that a component does not start with its settings.
type StartError struct {
	Component clusters.Component
	// Line is the decisive line of the component's own log.
	Line string
}

func (e *StartError) Error() string {
	if e.Line == "" {
		return fmt.Sprintf("%s does not start, and logged nothing", e.Component)
	}
	return fmt.Sprintf("%s does not start: %s", e.Component, e.Line)
}

// DoesNotStart returns a *clusters.BrokenError that wraps a *StartError. log is the end of the component's log.
func DoesNotStart(component clusters.Component, log string) error {
	return &clusters.BrokenError{
		Component: component, Words: Plain(log),
		Err: &StartError{Component: component, Line: decisive(log) + remedy(log)},
	}
}

// lastWordsScript prints the end of the log of a component's newest container.
const lastWordsScript = `ls -t /var/log/pods/kube-system_"$1"-*/"$1"/*.log | head -n 1 | xargs tail -n 30`

// LastWords returns the end of a component's newest log.
func LastWords(ctx context.Context, n nodes.Node, component clusters.Component) (string, error) {
	return n.Shell(ctx, lastWordsScript, string(component))
}
