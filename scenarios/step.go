package scenarios

// Step is one verb and its expected result. Exactly one verb is set.
//
// Tags of the fields: verb marks the verbs; expression a CEL expression, by the place that says which variables it has;
// fixed what must be known before the run, so that only ${case.x} may stand in it; table a table; copied what is run in
// copies, each with an ${index}.
type Step struct {
	// Name of the step in reports. Default: the verb and its object.
	Name string `json:"name,omitempty" fixed:"true"`
	// Covers lists those of the scenario's requirements that this step decides. Such a requirement fails only if one of
	// its steps fails, and passes when all of them have passed, whatever the result of the scenario. A step with covers
	// fails no other requirements. Default: the whole scenario decides each of its requirements.
	Covers []string `json:"covers,omitempty" fixed:"true"`
	// Cases is a table: the step is repeated with ${case.x} for each row. The column "name" names the repetition; all
	// rows have the same columns. Empty after loading, when each row is a separate step.
	Cases []map[string]any `json:"cases,omitempty" table:"true"`

	// Each lists the verbs for write: create, apply, update and patch. Empty after loading, when each verb is a
	// separate step, reported as name [row, verb].
	Each []string `json:"each,omitempty" fixed:"true"`
	// Existing is the name of a stored object: update and patch change it, instead of the object that write names. It
	// is required if the writes must be rejected and each combines update or patch with create or apply. Empty after
	// loading.
	Existing string `json:"existing,omitempty"`

	// Create creates an object. Its default namespace is the scenario's, as for all objects below.
	Create Object `json:"create,omitempty" verb:"true"`
	// Apply applies an object with server-side apply (force).
	Apply Object `json:"apply,omitempty" verb:"true"`
	// Update replaces an object (PUT). metadata.resourceVersion defaults to the stored one.
	Update Object `json:"update,omitempty" verb:"true"`
	// Patch changes a part of an object.
	Patch *Patch `json:"patch,omitempty" verb:"true"`
	// Delete deletes an object, or all objects that a selector matches, and waits until they are gone.
	Delete *Delete `json:"delete,omitempty" verb:"true"`
	// Evict evicts a pod through its eviction subresource.
	Evict *Evict `json:"evict,omitempty" verb:"true"`
	// Scale sets the number of replicas through the scale subresource.
	Scale *Scale `json:"scale,omitempty" verb:"true"`
	// Write writes an object with each of the verbs listed in each. Create, apply and update send the object itself;
	// patch sends it as a merge patch. Create and apply write the object named in its metadata. Update and patch write
	// the same object, or the one named in existing.
	Write Object `json:"write,omitempty" verb:"true"`
	// Parallel sends writes at the same time, to test which one wins.
	Parallel *Parallel `json:"parallel,omitempty" verb:"true"`

	// Transition changes the state of the running cluster; its objects stay.
	Transition *Transition `json:"transition,omitempty" verb:"true" fixed:"true"`
	// Restart restarts a component or a system, unchanged.
	Restart *ComponentReference `json:"restart,omitempty" verb:"true" fixed:"true"`
	// Kill kills a component or a system without warning. It stays down until a restart or a transition.
	Kill *ComponentReference `json:"kill,omitempty" verb:"true" fixed:"true"`
	// Snapshot saves everything that is stored in the cluster now, under a name.
	Snapshot *SnapshotReference `json:"snapshot,omitempty" verb:"true" fixed:"true"`
	// Restore restores everything that was stored in the cluster at an earlier snapshot. Versions and gates stay
	// unchanged.
	Restore *SnapshotReference `json:"restore,omitempty" verb:"true" fixed:"true"`

	// Eventually requires that a condition becomes true within a time. If it names one object that must have a certain
	// uid (match: {metadata: {uid: ...}}, or object.metadata.uid == outputs.uid as a condition of cel), it fails as soon
	// as that object is deleted, because a uid never comes back; or, if it must not be deleted (deletionTimestamp: null),
	// as soon as its deletion begins; or, if it must have a certain generation, as soon as that has passed.
	Eventually *Assertion `json:"eventually,omitempty" verb:"true"`
	// RolledOut waits until at least one object is selected and all selected objects are rolled out: the controller has
	// seen the newest spec and completed it. For a Deployment, StatefulSet, DaemonSet, ReplicaSet or
	// ReplicationController, all replicas must be updated (for a StatefulSet, those above its partition), ready and
	// available, with no old ones left; this includes the strategy OnDelete. A DaemonSet must have at least one pod,
	// and a Job must be Complete. Any other kind is judged by its conditions of the newest generation: Ready and
	// Available, if present, must be True; Reconciling, Progressing and Stalled must not. A kind without any of Ready,
	// Available and Reconciling is an error.
	RolledOut *RolledOut `json:"rolledOut,omitempty" verb:"true"`
	// Always requires that a condition is true at every moment of a period.
	Always *Assertion `json:"always,omitempty" verb:"true"`
	// Never requires that a condition is false at every moment of a period.
	Never *Assertion `json:"never,omitempty" verb:"true"`
	// Sequence requires changes of objects in a given order.
	Sequence *Sequence `json:"sequence,omitempty" verb:"true"`
	// Unchanged requires that objects, and the values at given paths, stay unchanged throughout a period. It does not
	// notice objects created during the period; to detect them, use always with count.
	Unchanged *Unchanged `json:"unchanged,omitempty" verb:"true"`
	// Survives requires that objects survive changes of the cluster. It makes the same checks of each object as
	// [rehearse upgrade](upgrade.md), except for new warnings: Can it be read in every served version, with the same
	// content? Is it as ready as before? Are a write that changes nothing, a new label, a status, its scale, the
	// removal of its finalizers, its deletion, the eviction of a pod, its creation and its application accepted (all as
	// dry runs)? Did nothing move: no pod replaced or restarted, nothing deleted? Objects that controllers create for
	// it are checked, too. A failure that existed before the period does not fail the step.
	Survives *Survives `json:"survives,omitempty" verb:"true"`
	// Window checks the whole cluster in the middle of an upgrade, after a transition with upTo, while API servers of
	// different versions serve the same etcd. {} makes every check.
	Window *Window `json:"window,omitempty" verb:"true"`

	// Resolve queries the cluster's DNS.
	Resolve *Resolve `json:"resolve,omitempty" verb:"true"`
	// Metric reads a component's metric.
	Metric *Metric `json:"metric,omitempty" verb:"true"`
	// Command runs a program on this machine, without a shell.
	Command *Command `json:"command,omitempty" verb:"true"`
	// Exec runs a program in a pod, without a shell. Only clusters with real nodes support it: see needs.
	Exec *Exec `json:"exec,omitempty" verb:"true"`

	// During lists loads: requests that are sent continuously while the step runs. See [Load while something
	// happens](#load-while-something-happens).
	During []Requests `json:"during,omitempty" copied:"true"`

	// Expect is the expected result of a write (create, apply, update, patch, delete, evict, scale). Default: accepted.
	Expect *Expect `json:"expect,omitempty"`
	// DryRun sends a write with dryRun=All: it is judged, but not stored.
	DryRun bool `json:"dryRun,omitempty"`
	// FieldValidation is how the API server treats unknown fields: Strict (default) rejects the write; Warn and Ignore
	// accept it without them. If the API server drops any sent field, the step fails, except if expect.dropped names
	// the field or fieldValidation is Ignore. Without subresource: status, the API
	// server may drop a status that is sent with other fields. It may not drop a status that is sent alone.
	FieldValidation string `json:"fieldValidation,omitempty" fixed:"true"`
	// As is the user who sends a write. Default: the administrator. All reads, also those of the stored object, are
	// made by the administrator.
	As *User `json:"as,omitempty"`
	// Via chooses one of several API servers: the number of its control plane (0, 1 and so on), new, old, or each. With
	// each, every one of them that runs must give the expected answer; a look back (throughout) needs all of them. For
	// metric, restart and kill it is the control plane of the component. Default: the load balancer in front of the API
	// servers. See [Several API servers](#several-api-servers).
	Via Via `json:"via,omitempty" fixed:"true"`
	// Outputs are CEL expressions whose values later steps use as ${outputs.name}. Their variables are the results of
	// the step: "object", the written or matched object; for parallel "objects", the objects that accepted writes
	// returned; for resolve "answers"; for metric "value"; for command and exec "stdout" and "stderr"; for a step with
	// during "loads".
	Outputs map[string]string `json:"outputs,omitempty" expression:"output"`
	// Timeout of this step. Default: the scenario's; 2m for the restart or kill of a component or a system, and for a
	// snapshot or its restore; 5m for each look of survives.
	Timeout Duration `json:"timeout,omitempty"`
	// Continue runs the next step even if this one fails; the scenario then fails at its end. Default: the scenario's
	// continue, which is false by default. See [Going on after a failed step](#going-on-after-a-failed-step).
	Continue *bool `json:"continue,omitempty"`

	// Position is where the step starts.
	Position Position `json:"-"`
	// Case holds the values of this row merged over the scenario's, when the step comes from a table; nil otherwise.
	// Scenario.CaseOf gives what "case" is in either event.
	Case map[string]any `json:"-"`
	// CaseName is the row's name, "" without a table.
	CaseName string `json:"-"`
	// Index is the number of a copy among those of parallel; nil elsewhere.
	Index *int64 `json:"-"`
	// OutputsUsed are the outputs of earlier steps that the step's expressions name; "" stands for outputs as a whole.
	OutputsUsed []string `json:"-"`
}

// verbs is the table of the verbs, in the order of their fields in Step.
func verbs() []verb {
	return []verb{
		createVerb(), applyVerb(), updateVerb(), patchVerb(), deleteVerb(), evictVerb(), scaleVerb(), writeVerb(),
		parallelVerb(),
		transitionVerb(), restartVerb(), killVerb(), snapshotVerb(), restoreVerb(),
		eventuallyVerb(), rolledOutVerb(), alwaysVerb(), neverVerb(), sequenceVerb(), unchangedVerb(), survivesVerb(),
		windowVerb(),
		resolveVerb(), metricVerb(), commandVerb(), execVerb(),
	}
}
