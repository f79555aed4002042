// Package diagnosis finds out why a component or a cluster does not start, from logs, disks and limits.
package diagnosis

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// StartError is a component that does not start with what it was given.
type StartError struct {
	Component clusters.Component
	// Line is what its own log says of it.
	Line string
}

func (e *StartError) Error() string {
	if e.Line == "" {
		return fmt.Sprintf("%s does not start, and logged nothing", e.Component)
	}
	return fmt.Sprintf("%s does not start: %s", e.Component, e.Line)
}

// DoesNotStart is a *clusters.BrokenError over a *StartError: of a component whose log ends like that.
func DoesNotStart(component clusters.Component, log string) error {
	return &clusters.BrokenError{
		Component: component, Words: Plain(log),
		Err: &StartError{Component: component, Line: decisive(log) + remedy(log)},
	}
}

// lastWordsScript prints the end of what the newest container of a component has said.
const lastWordsScript = `ls -t /var/log/pods/kube-system_"$1"-*/"$1"/*.log | head -n 1 | xargs tail -n 30`

// LastWords is the end of a component's newest log.
func LastWords(ctx context.Context, n nodes.Node, component clusters.Component) (string, error) {
	return n.Shell(ctx, lastWordsScript, string(component))
}
