package simulator

import (
	"slices"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// Faults lists the bugs, in the order of the requirements that they break.
func Faults() []fault.Fault {
	return slices.Concat(apiFaults, serviceFaults, podFaults, transitionFaults)
}

const (
	faultNoDefaultPolicy         = "no-default-policy"
	faultEmptyConfigUndefaulted  = "empty-network-config-not-defaulted"
	faultDropsExplicitShared     = "drops-explicit-shared"
	faultAcceptsAnyPolicy        = "accepts-any-policy"
	faultPolicyImmutable         = "policy-immutable"
	faultNullKeepsOldPolicy      = "null-keeps-old-policy"
	faultUnsetPolicyIsARevision  = "unset-policy-is-a-revision"
	faultKeepsUnknownFields      = "keeps-unknown-network-fields"
	faultSharedHasClusterIP      = "shared-service-has-cluster-ip"
	faultReplicaHasClusterIP     = "replica-service-has-cluster-ip"
	faultScaleAddsServices       = "scale-up-adds-services"
	faultLastWithoutService      = "last-replica-without-service"
	faultSharedAlways            = "shared-service-always"
	faultServiceNamedByIndex     = "service-named-by-index"
	faultSelectorWithoutName     = "selector-without-name"
	faultServiceOwnedBySet       = "service-owned-by-set"
	faultWorkersMakeServices     = "workers-make-services"
	faultServicesByNameOnly      = "services-by-name-only"
	faultServicesForTerminating  = "services-for-terminating-leaders"
	faultRecreateOrphans         = "recreation-orphans-dependents"
	faultScaleDownKeepsServices  = "scale-down-keeps-services"
	faultSharedUnowned           = "shared-service-unowned"
	faultSizeOneWithoutService   = "size-one-without-service"
	faultServiceMadeOnce         = "service-made-once"
	faultWorkersUnderLeader      = "workers-always-under-leader"
	faultWorkersOwnSubdomain     = "workers-get-own-subdomain"
	faultLeaderSetServiceName    = "leader-set-named-after-replica"
	faultSubdomainNotOverwritten = "subdomain-not-overwritten"
	faultOverwriteByLiveSpec     = "overwrite-by-live-spec"
	faultOverwritesAlways        = "overwrites-every-subdomain"
	faultWorkersInSharedDomain   = "workers-in-shared-subdomain"
	faultAddressOfItself         = "address-of-the-pod-itself"
	faultAddressInSharedDomain   = "address-in-shared-subdomain"
	faultTPUMissesLast           = "tpu-hostnames-miss-last"
	faultTPUInSharedDomain       = "tpu-hostnames-in-shared-subdomain"
	faultTPULeaderAlways         = "tpu-leader-always-counted"
	faultVariablesFirst          = "variables-before-subdomain"
	faultAddressWithoutNamespace = "address-without-namespace"
	faultPolicyNotInRevision     = "policy-not-in-revision"
	faultEveryPolicyWriteRolls   = "every-policy-write-rolls"
	faultSharedDroppedWhenUnique = "shared-service-dropped-when-unique"
	faultSharedRenewed           = "shared-service-renewed-in-transition"
	faultSharedAfterRollout      = "shared-service-after-rollout"
	faultServicesDroppedAtStart  = "services-dropped-at-start"
	faultReturnDropsShared       = "return-drops-shared-service"
	faultWorkersFromLiveSpec     = "workers-from-live-spec"
	faultServicesFromLiveSpec    = "services-from-live-spec"
	faultServicesOnChange        = "services-before-the-update"
	faultSurgeWithoutServices    = "surge-without-services"
	faultSurgeStays              = "surge-stays"
)

var apiFaults = []fault.Fault{
	fault.New(faultNoDefaultPolicy, "A LeaderWorkerSet without networkConfig is stored unchanged.", []string{"LWS-L01"}),
	fault.New(faultEmptyConfigUndefaulted, "An empty networkConfig is stored unchanged.", []string{"LWS-L02"}),
	fault.New(faultDropsExplicitShared, "An explicit policy Shared is removed.", []string{"LWS-L03"}),
	fault.Wide(fault.New(faultAcceptsAnyPolicy, "Any text is accepted as a policy.", []string{"LWS-L04"})),
	fault.New(faultPolicyImmutable, "A change of the policy is rejected.", []string{"LWS-L05"}),
	fault.New(faultNullKeepsOldPolicy, "An update without a policy keeps the old one.", []string{"LWS-L06"}),
	fault.New(faultUnsetPolicyIsARevision, "No policy and Shared are two revisions, so defaulting an old object "+
		"restarts its pods.", []string{"LWS-L07"}),
	fault.Wide(fault.New(faultKeepsUnknownFields, "Unknown fields of networkConfig are stored.", []string{"LWS-L08"})),
}

var serviceFaults = []fault.Fault{
	fault.New(faultSharedHasClusterIP, "The shared Service has a cluster IP.",
		[]string{"LWS-L10", "LWS-L52", "LWS-L54", "LWS-L56", "LWS-L58"}),
	fault.New(faultScaleAddsServices, "Under Shared, each replica that is added gets its own Service.",
		[]string{"LWS-L11"}),
	fault.New(faultLastWithoutService, "Under UniquePerReplica the last replica gets no Service.", []string{"LWS-L12"}),
	fault.New(faultReplicaHasClusterIP, "A replica's Service has a cluster IP.",
		[]string{"LWS-L12", "LWS-L52", "LWS-L56", "LWS-L58"}),
	fault.New(faultSharedAlways, "The shared Service is also created under UniquePerReplica.", []string{"LWS-L13"}),
	fault.New(faultServiceNamedByIndex, "A replica's Service has another name than its leader.", []string{"LWS-L14"}),
	fault.New(faultSelectorWithoutName, "A replica's Service selects only by group index, so it also selects pods "+
		"of other LeaderWorkerSets.", []string{"LWS-L15"}),
	fault.New(faultServiceOwnedBySet, "A replica's Service is owned by the LeaderWorkerSet.", []string{"LWS-L16"}),
	fault.New(faultWorkersMakeServices, "Workers also get a Service.", []string{"LWS-L17"}),
	fault.New(faultServicesByNameOnly, "Any Service with the right name counts as the replica's Service, and its "+
		"deletion is not noticed.", []string{"LWS-L18"}),
	fault.New(faultServicesForTerminating, "A Service is created for a leader that is being deleted.",
		[]string{"LWS-L64"}),
	fault.New(faultRecreateOrphans, "A group is recreated by deleting only its leader and orphaning the rest.",
		[]string{"LWS-L19"}),
	fault.New(faultScaleDownKeepsServices, "A scale-down makes the Services of the removed replicas belong to the "+
		"LeaderWorkerSet.", []string{"LWS-L20"}),
	fault.New(faultSharedUnowned, "The shared Service has no owner and outlives the LeaderWorkerSet.",
		[]string{"LWS-L21"}),
	fault.New(faultSizeOneWithoutService, "A group without workers gets no Service.", []string{"LWS-L22"}),
	fault.New(faultServiceMadeOnce, "A leader gets its Service only before its workers, so a Service that goes later is "+
		"not created again.", []string{"LWS-L18", "LWS-L25"}),
}

var podFaults = []fault.Fault{
	fault.New(faultWorkersUnderLeader, "Workers are in their leader's subdomain whatever the policy.",
		[]string{"LWS-L23"}),
	fault.New(faultWorkersOwnSubdomain, "Under UniquePerReplica a worker's subdomain is overwritten with its own name.",
		[]string{"LWS-L24"}),
	fault.New(faultLeaderSetServiceName, "Under UniquePerReplica the StatefulSet of the leaders names the first "+
		"replica's Service.", []string{"LWS-L30"}),
	fault.New(faultSubdomainNotOverwritten, "The pod webhook does not change a leader's subdomain.", []string{"LWS-L31"}),
	fault.New(faultOverwriteByLiveSpec, "The pod webhook overwrites the subdomain by the LeaderWorkerSet's policy, "+
		"not by the leader's mark.", []string{"LWS-L32", "LWS-L33"}),
	fault.New(faultOverwritesAlways, "The pod webhook overwrites the subdomain of every leader.", []string{"LWS-L33"}),
	fault.New(faultWorkersInSharedDomain, "Workers are in the shared subdomain whatever the policy.", []string{"LWS-L34"}),
	fault.New(faultAddressOfItself, "LWS_LEADER_ADDRESS is the pod's own address.", []string{"LWS-L40"}),
	fault.New(faultAddressInSharedDomain, "LWS_LEADER_ADDRESS is in the shared subdomain whatever the policy.",
		[]string{"LWS-L41"}),
	fault.New(faultTPUMissesLast, "TPU_WORKER_HOSTNAMES lacks the last worker.", []string{"LWS-L42"}),
	fault.New(faultTPUInSharedDomain, "TPU_WORKER_HOSTNAMES is in the shared subdomain whatever the policy.",
		[]string{"LWS-L43"}),
	fault.New(faultTPULeaderAlways, "TPU_WORKER_HOSTNAMES always contains the leader, even without TPUs.",
		[]string{"LWS-L44"}),
	fault.New(faultVariablesFirst, "The pod webhook sets the variables before it overwrites the subdomain.",
		[]string{"LWS-L45"}),
	fault.New(faultAddressWithoutNamespace, "LWS_LEADER_ADDRESS does not end with the namespace.", []string{"LWS-L46"}),
}

var transitionFaults = []fault.Fault{
	fault.New(faultPolicyNotInRevision, "A change of the policy creates no new revision, so no pod is updated.",
		[]string{"LWS-L50"}),
	fault.New(faultEveryPolicyWriteRolls, "Writing the same policy again starts a rolling update.", []string{"LWS-L51"}),
	fault.New(faultSharedDroppedWhenUnique, "The shared Service is deleted when the transition to UniquePerReplica is "+
		"done.", []string{"LWS-L52"}),
	fault.New(faultSharedRenewed, "The shared Service is deleted and created again when a transition starts.",
		[]string{"LWS-L53"}),
	fault.New(faultSharedAfterRollout, "The shared Service is created when the transition to Shared is done.",
		[]string{"LWS-L54"}),
	fault.New(faultServicesDroppedAtStart, "The replicas' Services are deleted when the transition to Shared starts.",
		[]string{"LWS-L55"}),
	fault.New(faultReturnDropsShared, "The shared Service is deleted when a LeaderWorkerSet returns to UniquePerReplica.",
		[]string{"LWS-L56"}),
	fault.New(faultWorkersFromLiveSpec, "Workers follow the newest policy instead of their leader's revision.",
		[]string{"LWS-L57"}),
	fault.New(faultServicesFromLiveSpec, "The newest policy decides whether a replica gets a Service, not its "+
		"leader's revision.", []string{"LWS-L57", "LWS-L63", "LWS-L64"}),
	fault.New(faultServicesOnChange, "A leader gets its Service as soon as the policy is UniquePerReplica, before it "+
		"is updated, and keeps it when the policy is changed back.", []string{"LWS-L63", "LWS-L64"}),
	fault.New(faultSurgeWithoutServices, "Replicas beyond the desired number get no Service.", []string{"LWS-L58"}),
	fault.New(faultSurgeStays, "Replicas beyond the desired number stay after the rolling update.", []string{"LWS-L58"}),
}
