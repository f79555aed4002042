package api

// Keys of labels.
const (
	// LabelName is the name of the LeaderWorkerSet, on every object that is created for it.
	LabelName = "leaderworkerset.sigs.k8s.io/name"
	// LabelGroupIndex is the index of a pod's group.
	LabelGroupIndex = "leaderworkerset.sigs.k8s.io/group-index"
	// LabelWorkerIndex is the index of a pod in its group, 0 for the leader.
	LabelWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index"
	// LabelGroupKey has the same value on all pods of a group, and on no other pods.
	LabelGroupKey = "leaderworkerset.sigs.k8s.io/group-key"
	// LabelRevision is the hash of the revision that an object was created from.
	LabelRevision = "leaderworkerset.sigs.k8s.io/template-revision-hash"
	// KeySubdomainPolicy is on the leaders whose subdomain will be overwritten: a label in KEP-173, an annotation
	// upstream.
	KeySubdomainPolicy = "leaderworkerset.sigs.k8s.io/subdomainPolicy"
)

// Keys of annotations.
const (
	// AnnotationSize is the number of pods of a pod's group.
	AnnotationSize = "leaderworkerset.sigs.k8s.io/size"
	// AnnotationReplicas is the desired number of groups, without surge, on the StatefulSet of the leaders.
	AnnotationReplicas = "leaderworkerset.sigs.k8s.io/replicas"
	// AnnotationLeaderName is the name of a worker's leader.
	AnnotationLeaderName = "leaderworkerset.sigs.k8s.io/leader-name"
	// AnnotationLeaderRequestsTPUs is "true" on workers whose leader has TPUs too.
	AnnotationLeaderRequestsTPUs = "leaderworkerset.sigs.k8s.io/leader-requests-tpus"
)

// LeaderIndex is the leader's worker index.
const LeaderIndex = "0"
