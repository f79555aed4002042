package api

// Keys of labels.
const (
	// LabelManagedBy has the value ManagedBy on every object that the operator creates.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelPartOf is the name of the PodCliqueSet.
	LabelPartOf = "app.kubernetes.io/part-of"
	// LabelPodGang is the name of a pod's PodGang, on pods and PodCliques.
	LabelPodGang = "grove.io/podgang"
	// LabelPodClique is the name of a pod's PodClique.
	LabelPodClique = "grove.io/podclique"
	// LabelSchedulerName is the backend that a PodGang belongs to.
	LabelSchedulerName = "grove.io/scheduler-name"
	// LabelReplicaIndex is the index of a gang in its PodCliqueSet.
	LabelReplicaIndex = "grove.io/podcliqueset-replica-index"
)

// ManagedBy is the value of LabelManagedBy.
const ManagedBy = "grove-operator"

// SchedulingGate keeps a pod from being scheduled until its PodGang is initialized.
const SchedulingGate = "grove.io/podgang-pending-creation"
