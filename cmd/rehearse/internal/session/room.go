package session

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
)

// ClustersUsage describes a flag of every command that runs plans.
const ClustersUsage = "number of clusters at once (default: one per core; if all scenarios of a cluster wait, " +
	"another one starts, up to two per core; limited by the available memory)"

// AddTo adds the flags of every command that runs scenarios and reports them.
func AddTo(command *cobra.Command, options *harness.Options, reportDirUsage string) {
	command.Flags().StringVar(&options.ReportDir, "report-dir", "rehearse-report", reportDirUsage)
	command.Flags().IntVar(&options.Parallel, "parallel", 0, "number of scenarios that run at once (default "+
		"four per core); up to eight times as many others may wait meanwhile; 1: one after the other")
	command.Flags().IntVar(&options.Clusters, "clusters", 0, ClustersUsage)
	command.Flags().DurationVar(&options.StepTimeout, "step-timeout", 0,
		"timeout of steps that set none (default 30s); a slow machine needs more. Not for a transition (10m), nor for a "+
			"restart, kill, snapshot or restore (2m)")
}

// Limit sets how many clusters of a plan run at once: as many as the user asks for or, by default, as there is room
// for.
func Limit(plan *harness.Plan, options *harness.Options, progress clusters.Progress) error {
	asked := options.Clusters
	if most := plan.MostAtOnce(); most > 0 && asked > most {
		return fmt.Errorf("--clusters %d: the %s provider supports at most %d; leave the flag out", asked,
			plan.Provider.Name(), most)
	}
	if system := plan.FixedPort(); system != "" && asked > 1 {
		return fmt.Errorf("--clusters %d: system %s always listens on the same port (webhookPort), so one cluster runs at a "+
			"time; leave the flag out", asked, system)
	}
	if asked < 0 {
		return fmt.Errorf("--clusters %d: want a positive number", asked)
	}
	room, limit := Room(asked, progress)
	if limit == 0 {
		limit = plan.AtOnce(room)
		options.SpareClusters = plan.Spare(room)
	}
	options.Clusters = limit
	return nil
}

// Room returns this machine's room for clusters, and how many run at once whatever their size: the number that the
// user asks for, 1 if the room is unknown, and otherwise 0.
func Room(asked int, progress clusters.Progress) (planning.Room, int) {
	room, err := planning.ThisMachine()
	if err != nil && asked == 0 {
		progress("one cluster at a time: %v", err)
		asked = 1
	}
	return room, asked
}
