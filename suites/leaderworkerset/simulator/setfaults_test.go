package simulator

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The fault depends only on the policies that were written, not on how far a rollout has come.
func TestReturnDropsShared(t *testing.T) {
	for policies, want := range map[string]bool{
		"UniquePerReplica":                                          false,
		"Shared UniquePerReplica":                                   false,
		"UniquePerReplica Shared":                                   false,
		"none UniquePerReplica Shared":                              false,
		"UniquePerReplica Shared UniquePerReplica":                  true,
		"UniquePerReplica none UniquePerReplica":                    true,
		"UniquePerReplica Shared UniquePerReplica Shared":           false,
		"UniquePerReplica Shared UniquePerReplica UniquePerReplica": true,
	} {
		t.Run(policies, func(t *testing.T) {
			set := newSet("my-lws", 1, 1, 0)
			set.Namespace, set.UID = "ns", "1"
			b, err := newBehaviour("", []string{faultReturnDropsShared}, nil)
			golden.Must(t, err)
			r := &setReconciler{behaviour: b, revisions: &revisions{client: stored(t, set), behaviour: b}}
			var newest *revision
			for _, policy := range strings.Fields(policies) {
				set.Spec.NetworkConfig = network(policy)
				newest, err = r.revisions.ensure(t.Context(), set)
				golden.Must(t, err)
			}
			if got, err := r.dropsSharedService(t.Context(), set, newest, nil, nil); err != nil || got != want {
				t.Errorf("drops: %v, %v, want %v", got, err, want)
			}
		})
	}
}
