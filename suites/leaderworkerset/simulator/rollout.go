package simulator

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// limits are the limits of a rollout, in numbers of groups.
type limits struct {
	replicas, partition, unavailable, surge int
}

// resolve converts the rollout strategy of a LeaderWorkerSet to numbers. Fields that are not set have their defaults.
func resolve(set *api.LeaderWorkerSet) limits {
	l := limits{replicas: int(set.Replicas()), unavailable: 1}
	config := set.Spec.RolloutStrategy.RollingUpdateConfiguration
	if config == nil {
		return l
	}
	if config.Partition != nil {
		l.partition = int(*config.Partition)
	}
	// The webhook rejects values that cannot be read here.
	l.unavailable, _ = intstr.GetScaledValueFromIntOrPercent(&config.MaxUnavailable, l.replicas, false)
	l.surge, _ = intstr.GetScaledValueFromIntOrPercent(&config.MaxSurge, l.replicas, true)
	if l.unavailable == 0 && l.surge == 0 {
		l.unavailable = 1 // as in Deployments: a small percentage, rounded to 0, must not block a rollout
	}
	return l
}

// extent describes the StatefulSet of the leaders: its number of groups, and the first group that has the newest
// revision.
type extent struct {
	replicas, partition int
}

// progress is the state of one group.
type progress struct {
	// ready: all of its pods are ready, and have the leader's revision.
	ready bool
	// updated: it has the newest revision.
	updated bool
}

// begin is the extent at the start of a rollout, when no existing group has changed yet.
func begin(now extent) extent {
	return extent{replicas: now.replicas, partition: now.replicas}
}

// next returns how far a rollout may go now. surging is the maximum number of groups beyond the replicas: their current
// number, or no limit when the rollout begins. groups[i] is group i; a missing group is not ready.
func next(l limits, now extent, surging int, groups []progress) extent {
	group := func(i int) progress {
		if i < len(groups) {
			return groups[i]
		}
		return progress{}
	}
	remaining := 0
	for i := l.partition; i < l.replicas; i++ {
		if g := group(i); !g.ready || !g.updated {
			remaining++
		}
	}
	to := extent{replicas: l.replicas + min(surging, extra(l, remaining)), partition: max(now.partition, l.partition)}

	// A group from the partition on that is not updated will be deleted, even if it is ready. So it does not count.
	ready := 0
	for i := range to.replicas {
		if g := group(i); g.ready && (g.updated || i < to.partition) {
			ready++
		}
	}
	spare := ready - (l.replicas - l.unavailable)
	for to.partition > l.partition {
		if i := to.partition - 1; i < to.replicas {
			if g := group(i); g.ready && !g.updated {
				if spare <= 0 {
					break
				}
				spare--
			}
		}
		to.partition--
	}
	return to
}

// extra is how many groups beyond the replicas a rollout needs. At first that is the maximum. Towards the end, it is
// the number of remaining groups, minus those that may be unavailable.
func extra(l limits, remaining int) int {
	surge := min(l.surge, l.replicas)
	if remaining > surge {
		return surge
	}
	return max(0, remaining-l.unavailable)
}
