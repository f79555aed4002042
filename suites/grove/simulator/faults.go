package simulator

import "github.com/rehearse-dev/rehearse/suites/simulators/fault"

var bugs = fault.List{Prefix: "GROVE-G"}

// Faults lists the bugs, in the order of the requirements that they break.
func Faults() []fault.Fault { return bugs.All() }

// The bugs in reading the configuration.
var (
	faultNoImplicitDefault = bugs.Wide("no-implicit-default", "01 02 05 13",
		"Without a default profile, kube-scheduler is not the default, and PodCliqueSets without schedulerName are "+
			"rejected.")
	faultDefaultFlagIgnored = bugs.Wide("default-flag-ignored", "03 04 13 23 54",
		"The field default of profiles is ignored.")
	faultSeveralDefaults = bugs.Wide("several-defaults-accepted", "04",
		"Of several default profiles the first is used.")
	faultFirstProfileDefault = bugs.Wide("first-profile-is-default", "05",
		"Without a default profile the first one is the default.")
	faultKubeTakenLiterally = bugs.New("kube-scheduler-taken-literally", "01 02 03 05 09 13 21 23 51",
		"Pods get the schedulerName kube-scheduler, which no scheduler serves.")
	faultUnknownProfiles    = bugs.Wide("unknown-profiles-skipped", "10", "Profiles of unknown backends are skipped.")
	faultDuplicatesAccepted = bugs.Wide("duplicate-profiles-accepted", "18", "A backend may have two profiles.")
	faultGangsByDefault     = bugs.Wide("gangs-by-default", "11", "Gang scheduling is on unless it is turned off.")
	faultGangsNever         = bugs.Wide("gang-option-not-read", "49 50 58 59", "The option gangScheduling is ignored.")
	faultConfigIgnored      = bugs.Wide("malformed-config-ignored", "12 16 19",
		"Options that a backend cannot read are ignored.")
	faultKubeOnlyIfListed = bugs.New("kube-only-if-listed", "05 14",
		"Kubernetes' scheduler is not available if no profile lists it.")
	faultEveryBackendEnabled = bugs.Wide("every-backend-enabled", "15 20 22",
		"Backends are enabled whether they are listed or not.")
	faultInitErrorsLogged = bugs.Wide("init-errors-only-logged", "12 16 19 57",
		"The error of a backend's initialization is only logged.")
	faultOtherInitErrors = bugs.Wide("other-init-errors-ignored", "16",
		"The error of a backend's initialization is ignored unless the backend is the default.")
	faultUnknownFields = bugs.Wide("unknown-fields-ignored", "17",
		"Unknown fields of the configuration are ignored.")
)

// The bugs in the webhook.
var (
	faultUnlistedAdmitted = bugs.New("unlisted-scheduler-admitted", "15 20 22",
		"The webhook does not check whether a scheduler is enabled.")
	faultKubeRejectedInPods = bugs.New("kube-scheduler-rejected-in-pods", "21",
		"The schedulerName kube-scheduler is not recognised as the default scheduler.")
	faultUpdatesUnchecked   = bugs.New("updates-unchecked", "22 26 27", "Updates are not validated.")
	faultFirstCliqueDecides = bugs.New("first-clique-decides", "24 25",
		"The first clique's scheduler counts for all.")
	faultEmptyNamesIgnored = bugs.New("empty-names-ignored", "25",
		"A clique without schedulerName can be combined with any other.")
	faultSchedulerNameMutable = bugs.New("scheduler-name-mutable", "26", "The schedulerName can be changed.")
	faultBackendNotAsked      = bugs.New("backend-not-asked", "27 28", "The backend does not validate PodCliqueSets.")
	faultRequiredAdmitted     = bugs.New("required-topology-admitted", "27 28",
		"The kube backend accepts required topology constraints and ignores them.")
	faultTopologyNotInSchema = bugs.Wide("topology-not-in-schema", "27 28 29 30 33 34",
		"PodCliqueSets have no topology constraints.")
	faultTopologyUnchecked = bugs.New("topology-unchecked-when-disabled", "30",
		"Topology constraints are accepted when topology aware scheduling is off.")
	faultNoUnsupportedCondition = bugs.New("no-unsupported-condition", "29 31",
		"The status does not say what the backend does not support.")
	faultEmptySetAdmitted = bugs.New("empty-set-admitted", "32", "A PodCliqueSet without cliques is accepted.")
)

// The bugs in the lifecycle of PodGangs.
var (
	faultPodsBeforeGang = bugs.New("pods-before-gang", "40 44",
		"A PodGang is created after its pods, as before GREP-375.")
	faultReferencesFromStart = bugs.New("references-from-start", "40 44",
		"A PodGang references its pods from the start, by their future names.")
	faultNoConditionAtFirst = bugs.New("no-condition-at-first", "41",
		"A PodGang has no condition Initialized before it is initialized.")
	faultUpstreamReasons = bugs.New("upstream-reasons", "41 42", "The condition Initialized has other reasons.")
	faultLabelsLate      = bugs.New("labels-after-initialization", "43",
		"Pods are labelled with their PodGang only when their gates are removed.")
	faultInitializedFirst = bugs.New("initialized-before-references", "43",
		"A PodGang is initialized before its pods are referenced.")
	faultReferencesTwice = bugs.New("references-twice", "43 44",
		"All PodGroups of a PodGang reference the pods of the first one, so some pods are never referenced.")
	faultReferencesIncremental = bugs.New("references-one-by-one", "44",
		"Pods are referenced one by one as they are created.")
	faultGatesByReference = bugs.New("gates-by-reference", "44 45 46",
		"Pods are referenced one by one, and each gate is removed at once.")
	faultGatesStay        = bugs.New("gates-stay", "45 46 54", "Gates are never removed.")
	faultInitializedShort = bugs.New("initialized-one-short", "43 44 46",
		"A PodGang is initialized when one pod is still missing.")
	faultLatePodsUngated = bugs.New("late-pods-ungated", "47",
		"Pods that are created after the PodGang was initialized have no gate.")
	faultScalingRestarts = bugs.New("scaling-restarts-pods", "47",
		"When the number of gangs changes, all pods are restarted.")
	faultScaleInKeepsGangs = bugs.New("scale-in-keeps-gangs", "47", "A scale-in does not delete PodGangs.")
	faultGangUnlabelled    = bugs.New("gang-unlabelled", "53", "A PodGang has no label for its PodCliqueSet.")
	faultOldGangsIgnored   = bugs.New("old-gangs-ignored", "55", "PodGangs from before the upgrade stay unchanged.")
	faultUpgradeRestarts   = bugs.New("upgrade-restarts-pods", "56",
		"The pods of PodGangs from before the upgrade are restarted.")
)

// The bugs at the backends.
var (
	faultSyncOnStatus = bugs.New("sync-on-status", "48",
		"The backend is called when only the status of a PodGang has changed.")
	faultSyncOnce = bugs.New("sync-once", "48 61",
		"The backend is not called again when the spec of a PodGang changes.")
	faultNeverUpdated = bugs.New("resources-never-updated", "61",
		"The kai backend does not update its PodGroup when the spec of a PodGang changes.")
	faultBackendAfterGates = bugs.New("backend-after-gates", "49 58",
		"The backend creates its resources after the gates are removed.")
	faultNoGang         = bugs.New("no-gang-made", "49 50 58 59", "The kube backend creates no gang.")
	faultPodsUnprepared = bugs.New("pods-unprepared", "03 13 21 23 34 51 54 58 59 60",
		"The backend does not prepare pods.")
	faultNoAnnotations = bugs.New("annotations-forgotten", "34 59 60",
		"Pods of the kai backend do not name their PodGroup.")
	faultTopologyForgotten = bugs.New("topology-forgotten", "33 34",
		"The kai backend does not copy topology constraints to its PodGroup.")
	faultResourcesUnowned = bugs.New("resources-unowned", "52", "The backend's resources have no owner, and stay.")
)
