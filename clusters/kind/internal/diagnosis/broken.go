// Package diagnosis finds out why a component or a cluster does not start, from logs, disks and limits.
package diagnosis

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// DoesNotStart returns a *clusters.BrokenError for a component that does not start with its settings, with the decisive
// line of its log. log is the end of the log.
func DoesNotStart(component clusters.Component, log string) error {
	err := fmt.Errorf("%s does not start, and logged nothing", component)
	if line := decisive(log) + remedy(log); line != "" {
		err = fmt.Errorf("%s does not start: %s", component, line)
	}
	return &clusters.BrokenError{Component: component, Words: Plain(log), Err: err}
}

// lastWordsScript prints the end of the log of a component's newest container.
const lastWordsScript = `ls -t /var/log/pods/kube-system_"$1"-*/"$1"/*.log | head -n 1 | xargs tail -n 30`

// LastWords returns the end of a component's newest log.
func LastWords(ctx context.Context, n nodes.Node, component clusters.Component) (string, error) {
	return n.Shell(ctx, lastWordsScript, string(component))
}
