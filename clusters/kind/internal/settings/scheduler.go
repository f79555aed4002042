package settings

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/schedulerconfig"
)

const SchedulerConfigName = "scheduler.yaml"

// SchedulerConfig returns kube-scheduler's configuration.
func SchedulerConfig(state clusters.State) (string, error) {
	return schedulerconfig.File(clusters.Scheduler, "/etc/kubernetes/scheduler.conf", state.NumberOfControlPlanes() > 1,
		state.SchedulerProfiles)
}

// SchedulerRevision returns a hash of kube-scheduler's configuration.
func SchedulerRevision(state clusters.State) (string, error) {
	config, err := SchedulerConfig(state)
	sum := sha256.Sum256([]byte(config))
	return hex.EncodeToString(sum[:8]), err
}
