package simulator

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// limits are what a rollout must keep to, in numbers of groups.
type limits struct {
	replicas, partition, unavailable, surge int
}

// resolve turns a LeaderWorkerSet's rollout strategy into numbers; what is not given has its default.
func resolve(set *api.LeaderWorkerSet) limits {
	l := limits{replicas: int(set.Replicas()), unavailable: 1}
	config := set.Spec.RolloutStrategy.RollingUpdateConfiguration
	if config == nil {
		return l
	}
	if config.Partition != nil {
		l.partition = int(*config.Partition)
	}
	// The webhook lets nothing by that these could not read.
	l.unavailable, _ = intstr.GetScaledValueFromIntOrPercent(&config.MaxUnavailable, l.replicas, false)
	l.surge, _ = intstr.GetScaledValueFromIntOrPercent(&config.MaxSurge, l.replicas, true)
	if l.unavailable == 0 && l.surge == 0 {
		l.unavailable = 1 // as for Deployments: percentages of few replicas must not stop a rollout
	}
	return l
}

// extent is how far the StatefulSet of the leaders goes, and down to which group it is of the newest revision.
type extent struct {
	replicas, partition int
}

// progress is how one group stands.
type progress struct {
	// ready: all of its pods are, and all are of the leader's revision.
	ready bool
	// updated: it is of the newest revision.
	updated bool
}

// begin is where a rollout starts: nothing that is there is touched yet.
func begin(now extent) extent {
	return extent{replicas: now.replicas, partition: now.replicas}
}

// next is how far a rollout can go now. surging is how many groups beyond the replicas there may be at most: as many as
// there are, or any number when the rollout begins. groups[i] is group i; one that is missing there is not ready.
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

	// A group from the partition on that is not updated is on its way out, ready or not.
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

// extra is how many groups a rollout wants beyond the replicas: all that it may have, and towards its end only as many
// as have to stand in for groups that are not updated.
func extra(l limits, remaining int) int {
	surge := min(l.surge, l.replicas)
	if remaining > surge {
		return surge
	}
	return max(0, remaining-l.unavailable)
}
