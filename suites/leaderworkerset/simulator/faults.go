package simulator

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

var bugs = fault.List{Prefix: "LWS-L"}

// Faults lists the bugs, in the order of the requirements that they break.
func Faults() []fault.Fault { return bugs.All() }

// The bugs in the API.
var (
	faultNoDefaultPolicy = bugs.New("no-default-policy", "01 02 06",
		"A LeaderWorkerSet without networkConfig is stored unchanged.")
	faultEmptyConfigUndefaulted = bugs.New("empty-network-config-not-defaulted", "02 06",
		"An empty networkConfig is stored unchanged.")
	faultDropsExplicitShared    = bugs.New("drops-explicit-shared", "03", "An explicit policy Shared is removed.")
	faultAcceptsAnyPolicy       = bugs.Wide("accepts-any-policy", "04", "Any text is accepted as a policy.")
	faultPolicyImmutable        = bugs.New("policy-immutable", "05 06", "A change of the policy is rejected.")
	faultNullKeepsOldPolicy     = bugs.New("null-keeps-old-policy", "06", "An update without a policy keeps the old one.")
	faultUnsetPolicyIsARevision = bugs.New("unset-policy-is-a-revision", "07",
		"No policy and Shared are two revisions, so defaulting an old object restarts its pods.")
	faultKeepsUnknownFields = bugs.Wide("keeps-unknown-network-fields", "08",
		"Unknown fields of networkConfig are stored.")
	faultAcceptsLongNames = bugs.New("accepts-long-names", "66",
		"A name is accepted that is too long for the names of the replicas' Services.")
)

// The bugs in Services.
var (
	faultSharedHasClusterIP = bugs.New("shared-service-has-cluster-ip", "10 52 54 56",
		"The shared Service has a cluster IP.")
	faultSharedSelectsLeaders = bugs.New("shared-service-selects-leaders", "10 65",
		"The shared Service selects only the leaders.")
	faultSharedOnlyReady = bugs.New("shared-service-only-ready", "65",
		"The shared Service leads only to the pods that are ready.")
	faultScaleAddsServices = bugs.New("scale-up-adds-services", "11",
		"Under Shared, each replica that is added gets its own Service.")
	faultLastWithoutService = bugs.New("last-replica-without-service", "12 17 20 22 52 56 57 59",
		"Under UniquePerReplica the last replica gets no Service.")
	faultReplicaHasClusterIP = bugs.New("replica-service-has-cluster-ip", "12 52 56 58",
		"A replica's Service has a cluster IP.")
	faultSharedAlways = bugs.New("shared-service-always", "12 13",
		"The shared Service is also created under UniquePerReplica.")
	faultServiceNamedByIndex = bugs.New("service-named-by-index", "14",
		"A replica's Service has another name than its leader.")
	faultSelectorWithoutName = bugs.New("selector-without-name", "15",
		"A replica's Service selects only by group index, so it also selects pods of other LeaderWorkerSets.")
	faultServiceOwnedBySet = bugs.New("service-owned-by-set", "16 18 19 20 55 58 59",
		"A replica's Service is owned by the LeaderWorkerSet.")
	faultWorkersMakeServices = bugs.New("workers-make-services", "12 17", "Workers also get a Service.")
	faultServicesByNameOnly  = bugs.New("services-by-name-only", "67",
		"Any Service with the right name counts as the replica's Service, and its deletion is not noticed.")
	faultServicesForTerminating = bugs.New("services-for-terminating-leaders", "64",
		"A Service is created for a leader that is being deleted.")
	faultRecreateOrphans = bugs.New("recreation-orphans-dependents", "19",
		"A group is recreated by deleting only its leader and orphaning the rest.")
	faultScaleDownKeepsServices = bugs.New("scale-down-keeps-services", "20",
		"A scale-down makes the Services of the removed replicas belong to the LeaderWorkerSet.")
	faultSharedUnowned = bugs.New("shared-service-unowned", "21",
		"The shared Service has no owner and outlives the LeaderWorkerSet.")
	faultSizeOneWithoutService = bugs.New("size-one-without-service", "22", "A group without workers gets no Service.")
	faultServiceMadeOnce       = bugs.New("service-made-once", "18 25 67",
		"A leader gets its Service only before its workers, so a Service that goes later is not created again.")
)

// The bugs in the subdomains and variables of pods.
var (
	faultWorkersUnderLeader = bugs.New("workers-always-under-leader", "23 34 40 42 57",
		"Workers are in their leader's subdomain whatever the policy.")
	faultWorkersOwnSubdomain = bugs.New("workers-get-own-subdomain", "24 34 41 43 57",
		"Under UniquePerReplica a worker's subdomain is overwritten with its own name.")
	faultLeaderSetServiceName = bugs.New("leader-set-named-after-replica", "30",
		"Under UniquePerReplica the StatefulSet of the leaders names the first replica's Service.")
	faultSubdomainNotOverwritten = bugs.New("subdomain-not-overwritten", "24 31 32 41 43",
		"The pod webhook does not change a leader's subdomain.")
	faultOverwriteByLiveSpec = bugs.New("overwrite-by-live-spec", "32 33 57",
		"The pod webhook overwrites the subdomain by the LeaderWorkerSet's policy, not by the leader's mark.")
	faultOverwritesAlways = bugs.New("overwrites-every-subdomain", "23 33 40 42",
		"The pod webhook overwrites the subdomain of every leader.")
	faultWorkersInSharedDomain = bugs.New("workers-in-shared-subdomain", "24 34 41 43 57",
		"Workers are in the shared subdomain whatever the policy.")
	faultAddressOfItself = bugs.New("address-of-the-pod-itself", "40 41",
		"LWS_LEADER_ADDRESS is the pod's own address.")
	faultAddressInSharedDomain = bugs.New("address-in-shared-subdomain", "41 45 57",
		"LWS_LEADER_ADDRESS is in the shared subdomain whatever the policy.")
	faultTPUMissesLast = bugs.New("tpu-hostnames-miss-last", "42 43",
		"TPU_WORKER_HOSTNAMES lacks the last worker.")
	faultTPUInSharedDomain = bugs.New("tpu-hostnames-in-shared-subdomain", "43 45",
		"TPU_WORKER_HOSTNAMES is in the shared subdomain whatever the policy.")
	faultTPULeaderAlways = bugs.New("tpu-leader-always-counted", "44",
		"TPU_WORKER_HOSTNAMES always contains the leader, even without TPUs.")
	faultVariablesFirst = bugs.New("variables-before-subdomain", "41 43 45 57",
		"The pod webhook sets the variables before it overwrites the subdomain.")
	faultAddressWithoutNamespace = bugs.New("address-without-namespace", "46",
		"LWS_LEADER_ADDRESS does not end with the namespace.")
)

// The bugs in transitions.
var (
	faultPolicyNotInRevision = bugs.New("policy-not-in-revision", "50",
		"A change of the policy creates no new revision, so no pod is updated.")
	faultEveryPolicyWriteRolls = bugs.New("every-policy-write-rolls", "07 51",
		"Writing the same policy again starts a rolling update.")
	faultStartIsARevision = bugs.New("start-is-a-revision", "68",
		"When the manager starts again, the groups that it finds are of an old revision, so they are replaced.")
	faultSharedDroppedWhenUnique = bugs.New("shared-service-dropped-when-unique", "52 56 59",
		"The shared Service is deleted when the transition to UniquePerReplica is done.")
	faultSharedRenewed = bugs.New("shared-service-renewed-in-transition", "53 59",
		"The shared Service is deleted and created again when a transition starts.")
	faultSharedAfterRollout = bugs.New("shared-service-after-rollout", "54 57",
		"The shared Service is created when the transition to Shared is done.")
	faultServicesDroppedAtStart = bugs.New("services-dropped-at-start", "55 57",
		"The replicas' Services are deleted when the transition to Shared starts.")
	faultReturnDropsShared = bugs.New("return-drops-shared-service", "53 56",
		"The shared Service is deleted when a LeaderWorkerSet returns to UniquePerReplica, and is not created again.")
	faultWorkersFromLiveSpec = bugs.New("workers-from-live-spec", "57",
		"Workers follow the newest policy instead of their leader's revision.")
	faultAddressByLiveSpec = bugs.New("address-by-live-spec", "57",
		"LWS_LEADER_ADDRESS follows the newest policy instead of the pod's subdomain.")
	faultServicesFromLiveSpec = bugs.New("services-from-live-spec", "57 63 64",
		"The newest policy decides whether a replica gets a Service, not its leader's revision.")
	faultServicesOnChange = bugs.New("services-before-the-update", "63 64",
		"A leader gets its Service as soon as the policy is UniquePerReplica, before it is updated, and keeps it when the "+
			"policy is changed back.")
	faultSurgeWithoutServices = bugs.New("surge-without-services", "58",
		"Replicas beyond the desired number get no Service.")
	faultSurgeOneService = bugs.New("surge-one-service", "58",
		"Of the replicas beyond the desired number, only the first gets a Service.")
	faultSurgeStays = bugs.New("surge-stays", "58",
		"Replicas beyond the desired number stay after the rolling update.")
)
