// Package lives reports the lifetimes of a cluster's processes.
package lives

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
)

// Of returns all starts of a cluster's processes so far; none if the cluster does not report them.
func Of(cluster clusters.Cluster) []reports.Process {
	teller, ok := cluster.(clusters.ProcessRunner)
	if !ok {
		return nil
	}
	var all []reports.Process
	for _, l := range teller.ProcessLives() {
		all = append(all, reports.Process{
			Component: string(l.Component), Version: l.Version, Started: l.Started, Ready: l.Ready, Ended: l.Ended,
			Unasked: l.Unasked,
		})
	}
	return all
}
