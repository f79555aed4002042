package scenarios

// Step is one verb with what is expected of it. Exactly one verb is set.
//
// Tags of the fields: verb marks the verbs; expression a CEL expression, by the place that says which variables it has;
// fixed what must be known before the run, so that only ${case.x} may stand in it; table a table; copied what is run in
// copies, each with an ${index}.
type Step struct {
	// Name of the step in reports. Default: the verb and its object.
	Name string `json:"name,omitempty" fixed:"true"`
	// Covers lists those of the scenario's requirements that this step decides. A requirement that steps cover fails only
	// with one of them, and is passed once all of them have passed, whatever the scenario comes to later. A step that
	// covers requirements fails no others. Default: the whole scenario decides each of its requirements.
	Covers []string `json:"covers,omitempty" fixed:"true"`
	// Cases is a table: the step is repeated with ${case.x} for each row. A row's own "name" names its repetition;
	// all rows have the same columns. Empty once loaded: each row is a step of its own then.
	Cases []map[string]any `json:"cases,omitempty" table:"true"`

	// Each lists the ways in which the object of write is written: create, apply, update and patch. Empty once loaded:
	// each way is a step of its own then, and reported as name [row, way].
	Each []string `json:"each,omitempty" fixed:"true"`
	// Existing is the name of an object that was stored before: update and patch change it, instead of the one that write
	// names. Where the writes are to be refused, update and patch need it beside create and apply. Empty once loaded.
	Existing string `json:"existing,omitempty"`

	// Create creates an object. Its default namespace is the scenario's, like that of every object below.
	Create Object `json:"create,omitempty" verb:"true"`
	// Apply applies an object on the server's side (server-side apply, with force).
	Apply Object `json:"apply,omitempty" verb:"true"`
	// Update replaces an object (PUT). Without a metadata.resourceVersion the one that is stored is used.
	Update Object `json:"update,omitempty" verb:"true"`
	// Patch changes a part of an object.
	Patch *Patch `json:"patch,omitempty" verb:"true"`
	// Delete deletes an object, or all that a selector names, and waits until it is gone.
	Delete *Delete `json:"delete,omitempty" verb:"true"`
	// Evict evicts a pod through its eviction subresource.
	Evict *Evict `json:"evict,omitempty" verb:"true"`
	// Scale sets the number of replicas through the scale subresource.
	Scale *Scale `json:"scale,omitempty" verb:"true"`
	// Write writes an object in each of the ways that each lists. Create, apply and update send the object itself, patch a
	// merge patch of all in it. Create and apply write what its metadata names; update and patch the same, or what
	// existing names.
	Write Object `json:"write,omitempty" verb:"true"`
	// Parallel sends writes at the same time: to see which one wins.
	Parallel *Parallel `json:"parallel,omitempty" verb:"true"`

	// Transition changes the state of the live cluster; its objects stay.
	Transition *Transition `json:"transition,omitempty" verb:"true" fixed:"true"`
	// Restart stops a component, or a system, and starts it as it was.
	Restart *ComponentReference `json:"restart,omitempty" verb:"true" fixed:"true"`
	// Kill ends a component, or a system, without warning. It stays down until a restart or a transition.
	Kill *ComponentReference `json:"kill,omitempty" verb:"true" fixed:"true"`
	// Snapshot keeps all that is stored in the cluster as it is now, under a name.
	Snapshot *SnapshotReference `json:"snapshot,omitempty" verb:"true" fixed:"true"`
	// Restore puts back what is stored in the cluster to what it was at an earlier snapshot. Versions and gates stay as
	// they are.
	Restore *SnapshotReference `json:"restore,omitempty" verb:"true" fixed:"true"`

	// Eventually holds within a time. Where one object is named that must have a certain uid (match: {metadata: {uid:
	// ...}}), it ends as soon as that object is gone: a uid never comes back.
	Eventually *Assertion `json:"eventually,omitempty" verb:"true"`
	// RolledOut waits until every selected object is rolled out, and there is at least one: its controller has seen the
	// newest spec, and has done all of it. A Deployment, StatefulSet, DaemonSet, ReplicaSet or ReplicationController has
	// all its replicas updated (a StatefulSet those above its partition), ready and available, and none left over; with
	// OnDelete, too, all must be updated. A DaemonSet must have at least one pod, a Job must be Complete. Any other kind
	// goes by its conditions: Ready and Available must be True where they are there, Reconciling, Progressing and Stalled
	// not, each of the newest generation. A kind that has none of Ready, Available and Reconciling is an error.
	RolledOut *RolledOut `json:"rolledOut,omitempty" verb:"true"`
	// Always holds at every moment of a time.
	Always *Assertion `json:"always,omitempty" verb:"true"`
	// Never holds at no moment of a time.
	Never *Assertion `json:"never,omitempty" verb:"true"`
	// Sequence demands changes of objects in an order.
	Sequence *Sequence `json:"sequence,omitempty" verb:"true"`
	// Unchanged demands that objects stay, with what is at some paths in them, all through a time.
	Unchanged *Unchanged `json:"unchanged,omitempty" verb:"true"`
	// Survives demands that objects survive what is done to the cluster. Of each object it asks all that [rehearse
	// upgrade](upgrade.md) asks: is it read in every version served, with the same content; is it ready as before; are a
	// write that changes nothing, a label, a status, the removal of its finalizers, its deletion, the same object anew and
	// its application accepted (all as dry runs); and did nothing move: no pod replaced or restarted, nothing deleted.
	// What controllers made for the objects is asked, too. What failed before is not blamed on what came after it.
	Survives *Survives `json:"survives,omitempty" verb:"true"`
	// Window judges the window of an upgrade, which a transition with upTo holds: what must be true of the whole cluster
	// while API servers that differ serve what one etcd stores. {} makes every check.
	Window *Window `json:"window,omitempty" verb:"true"`

	// Resolve asks the cluster's DNS.
	Resolve *Resolve `json:"resolve,omitempty" verb:"true"`
	// Metric reads a component's metric.
	Metric *Metric `json:"metric,omitempty" verb:"true"`
	// Command runs a program on this machine, without a shell.
	Command *Command `json:"command,omitempty" verb:"true"`
	// Exec runs a program in a pod, without a shell. Only clusters with real nodes can do it: see needs.
	Exec *Exec `json:"exec,omitempty" verb:"true"`

	// During are loads: requests that go on all the time while the step runs. See [Load while something
	// happens](#load-while-something-happens).
	During []Requests `json:"during,omitempty" copied:"true"`

	// Expect is what is expected of a write (create, apply, update, patch, delete, evict, scale). Default: accepted.
	Expect *Expect `json:"expect,omitempty"`
	// DryRun sends a write with dryRun=All: judged, not stored.
	DryRun bool `json:"dryRun,omitempty"`
	// FieldValidation is what becomes of fields that the kind does not have: Strict, the default, rejects the write; Warn
	// and Ignore take it without them. Whatever the API server drops of what was sent fails the step, unless
	// expect.dropped names it or FieldValidation is Ignore.
	FieldValidation string `json:"fieldValidation,omitempty" fixed:"true"`
	// As is who sends a write, instead of the administrator that a scenario is otherwise. Whatever is read, also to see
	// what is stored, the administrator reads.
	As *User `json:"as,omitempty"`
	// Via is which of several API servers a step asks: 0, 1 and so on, the number of its control plane; new or old; or
	// each, where every one of them must give the expected answer. Of metric, restart and kill it is the control plane of
	// the component that is meant. Default: the balancer before the API servers. See [Several API
	// servers](#several-api-servers).
	Via Via `json:"via,omitempty" fixed:"true"`
	// Outputs are CEL expressions whose values later steps use as ${outputs.name}. In them "object" is what the step
	// returned: the object written or matched; for parallel "objects", those that the accepted writes returned; for
	// resolve "answers"; for metric "value"; for command and exec "stdout" and "stderr"; for a step with during "loads".
	Outputs map[string]string `json:"outputs,omitempty" expression:"output"`
	// Timeout of this step. Default: the scenario's.
	Timeout Duration `json:"timeout,omitempty"`
	// Continue goes on with the next step when this one fails; the scenario fails at its end. Default: the scenario's
	// continue, which is false. See [Going on after a failed step](#going-on-after-a-failed-step).
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
