package upgrades

import "testing"

// Gates that are related to a finding, by whole words of their names, come first. No gate is lost.
func TestLikelyFirst(t *testing.T) {
	flips := []string{
		"AnyVolumeDataSource is locked on", "InformerResourceVersion turns on",
		"MutableCSINodeAllocatableCount turns on", "StrictIPCIDRValidation turns on",
		"StatefulSetSemanticRevisionComparison turns on",
	}
	for _, test := range []struct{ kind, words, want string }{
		{
			"NetworkPolicy.networking.k8s.io", "spec.ingress[0].from[0].ipBlock.cidr: Invalid value",
			"StrictIPCIDRValidation turns on",
		},
		{"StatefulSet.apps", "2 of its 2 pods were deleted", "StatefulSetSemanticRevisionComparison turns on"},
		{"ResourceSlice.resource.k8s.io", "only one of sharedCounters or devices is allowed", ""},
		{
			"StorageVersionMigration.storagemigration.k8s.io", "no kind StorageVersionMigration is registered for version v1",
			"",
		},
	} {
		first := LikelyFirst(flips, test.kind, test.words)[0]
		if likely := related(first, test.kind, test.words) > 0; likely != (test.want != "") || likely && first != test.want {
			t.Errorf("%s: %s is first, want %q", test.kind, first, test.want)
		}
	}
	if len(LikelyFirst(flips, "", "")) != len(flips) {
		t.Error("a gate is lost")
	}
}
