package simulator

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// Faults lists the bugs, in the order of the requirements that they break.
func Faults() []fault.Fault {
	return slices.Concat(configurationFaults(), admissionFaults(), lifecycleFaults(), backendFaults())
}

// breaks returns requirements by their numbers.
func breaks(numbers string) []string {
	var ids []string
	for _, number := range strings.Fields(numbers) {
		ids = append(ids, "GROVE-G"+number)
	}
	return ids
}

// The bugs in reading the configuration.
const (
	faultNoImplicitDefault   = "no-implicit-default"
	faultDefaultFlagIgnored  = "default-flag-ignored"
	faultSeveralDefaults     = "several-defaults-accepted"
	faultFirstProfileDefault = "first-profile-is-default"
	faultKubeTakenLiterally  = "kube-scheduler-taken-literally"
	faultUnknownProfiles     = "unknown-profiles-skipped"
	faultDuplicatesAccepted  = "duplicate-profiles-accepted"
	faultGangsByDefault      = "gangs-by-default"
	faultGangsNever          = "gang-option-not-read"
	faultConfigIgnored       = "malformed-config-ignored"
	faultKubeOnlyIfListed    = "kube-only-if-listed"
	faultEveryBackendEnabled = "every-backend-enabled"
	faultInitErrorsLogged    = "init-errors-only-logged"
	faultUnknownFields       = "unknown-fields-ignored"
)

func configurationFaults() []fault.Fault {
	return []fault.Fault{
		fault.Wide(fault.New(faultNoImplicitDefault, "Without a default profile, kube-scheduler is not the default, and "+
			"PodCliqueSets without schedulerName are rejected.", breaks("01 02 05"))),
		fault.Wide(fault.New(faultDefaultFlagIgnored, "The field default of profiles is ignored.", breaks("03 04 13 23 54"))),
		fault.Wide(fault.New(faultSeveralDefaults, "Of several default profiles the first is used.", breaks("04"))),
		fault.Wide(fault.New(faultFirstProfileDefault, "Without a default profile the first one is the default.",
			breaks("05"))),
		fault.New(faultKubeTakenLiterally, "Pods get the schedulerName kube-scheduler, which no scheduler serves.",
			breaks("01 02 05 09 13 21 51")),
		fault.Wide(fault.New(faultUnknownProfiles, "Profiles of unknown backends are skipped.", breaks("10"))),
		fault.Wide(fault.New(faultDuplicatesAccepted, "A backend may have two profiles.", breaks("18"))),
		fault.Wide(fault.New(faultGangsByDefault, "Gang scheduling is on unless it is turned off.", breaks("11"))),
		fault.Wide(fault.New(faultGangsNever, "The option gangScheduling is ignored.", breaks("50 58 59"))),
		fault.Wide(fault.New(faultConfigIgnored, "Options that a backend cannot read are ignored.",
			breaks("12 16 19"))),
		fault.New(faultKubeOnlyIfListed, "Kubernetes' scheduler is not available if no profile lists it.",
			breaks("05 14")),
		fault.Wide(fault.New(faultEveryBackendEnabled, "Backends are enabled whether they are listed or not.",
			breaks("15 20"))),
		fault.Wide(fault.New(faultInitErrorsLogged, "The error of a backend's initialization is only logged.",
			breaks("12 16 19 57"))),
		fault.Wide(fault.New(faultUnknownFields, "Unknown fields of the configuration are ignored.", breaks("17"))),
	}
}

// The bugs in the webhook.
const (
	faultUnlistedAdmitted       = "unlisted-scheduler-admitted"
	faultKubeRejectedInPods     = "kube-scheduler-rejected-in-pods"
	faultUpdatesUnchecked       = "updates-unchecked"
	faultFirstCliqueDecides     = "first-clique-decides"
	faultEmptyNamesIgnored      = "empty-names-ignored"
	faultSchedulerNameMutable   = "scheduler-name-mutable"
	faultBackendNotAsked        = "backend-not-asked"
	faultRequiredAdmitted       = "required-topology-admitted"
	faultTopologyUnchecked      = "topology-unchecked-when-disabled"
	faultNoUnsupportedCondition = "no-unsupported-condition"
	faultEmptySetAdmitted       = "empty-set-admitted"
)

func admissionFaults() []fault.Fault {
	return []fault.Fault{
		fault.New(faultUnlistedAdmitted, "The webhook does not check whether a scheduler is enabled.", breaks("15 20 22")),
		fault.New(faultKubeRejectedInPods, "The schedulerName kube-scheduler is not recognised as the default scheduler.",
			breaks("21")),
		fault.New(faultUpdatesUnchecked, "Updates are not validated.", breaks("22 26 27")),
		fault.New(faultFirstCliqueDecides, "The first clique's scheduler counts for all.", breaks("24 25")),
		fault.New(faultEmptyNamesIgnored, "A clique without schedulerName can be combined with any other.", breaks("25")),
		fault.New(faultSchedulerNameMutable, "The schedulerName can be changed.", breaks("26")),
		fault.New(faultBackendNotAsked, "The backend does not validate PodCliqueSets.", breaks("27 28")),
		fault.New(faultRequiredAdmitted, "The kube backend accepts required topology constraints and ignores them.",
			breaks("28")),
		fault.New(faultTopologyUnchecked, "Topology constraints are accepted when topology aware scheduling is off.",
			breaks("30")),
		fault.New(faultNoUnsupportedCondition, "The status does not say what the backend does not support.", breaks("29 31")),
		fault.New(faultEmptySetAdmitted, "A PodCliqueSet without cliques is accepted.", breaks("32")),
	}
}

// The bugs in the lifecycle of PodGangs.
const (
	faultPodsBeforeGang        = "pods-before-gang"
	faultReferencesFromStart   = "references-from-start"
	faultNoConditionAtFirst    = "no-condition-at-first"
	faultUpstreamReasons       = "upstream-reasons"
	faultLabelsLate            = "labels-after-initialization"
	faultInitializedFirst      = "initialized-before-references"
	faultReferencesIncremental = "references-one-by-one"
	faultGatesByReference      = "gates-by-reference"
	faultGatesStay             = "gates-stay"
	faultInitializedShort      = "initialized-one-short"
	faultLatePodsUngated       = "late-pods-ungated"
	faultScalingRestarts       = "scaling-restarts-pods"
	faultScaleInKeepsGangs     = "scale-in-keeps-gangs"
	faultGangUnlabelled        = "gang-unlabelled"
	faultOldGangsIgnored       = "old-gangs-ignored"
	faultUpgradeRestarts       = "upgrade-restarts-pods"
)

func lifecycleFaults() []fault.Fault {
	return []fault.Fault{
		fault.New(faultPodsBeforeGang, "A PodGang is created after its pods, as before GREP-375.", breaks("40 44")),
		fault.New(faultReferencesFromStart, "A PodGang references its pods from the start, by their future names.",
			breaks("40 44")),
		fault.New(faultNoConditionAtFirst, "A PodGang has no condition Initialized before it is initialized.",
			breaks("41 46")),
		fault.New(faultUpstreamReasons, "The condition Initialized has other reasons.", breaks("41 42")),
		fault.New(faultLabelsLate, "Pods are labelled with their PodGang only when their gates are removed.", breaks("43")),
		fault.New(faultInitializedFirst, "A PodGang is initialized before its pods are referenced.", breaks("43")),
		fault.New(faultReferencesIncremental, "Pods are referenced one by one as they are created.", breaks("44")),
		fault.New(faultGatesByReference, "Pods are referenced one by one, and each gate is removed at once.",
			breaks("44 45 46")),
		fault.New(faultGatesStay, "Gates are never removed.", breaks("45 54 56")),
		fault.New(faultInitializedShort, "A PodGang is initialized when one pod is still missing.", breaks("43 44 46")),
		fault.New(faultLatePodsUngated, "Pods that are created after the PodGang was initialized have no gate.",
			breaks("47")),
		fault.New(faultScalingRestarts, "When the number of gangs changes, all pods are restarted.", breaks("47")),
		fault.New(faultScaleInKeepsGangs, "A scale-in does not delete PodGangs.", breaks("47")),
		fault.New(faultGangUnlabelled, "A PodGang has no label for its PodCliqueSet.", breaks("53")),
		fault.New(faultOldGangsIgnored, "PodGangs from before the upgrade stay unchanged.", breaks("55")),
		fault.New(faultUpgradeRestarts, "The pods of PodGangs from before the upgrade are restarted.", breaks("56")),
	}
}

// The bugs at the backends.
const (
	faultSyncOnStatus      = "sync-on-status"
	faultSyncOnce          = "sync-once"
	faultBackendAfterGates = "backend-after-gates"
	faultNoGang            = "no-gang-made"
	faultPodsUnprepared    = "pods-unprepared"
	faultNoAnnotations     = "annotations-forgotten"
	faultResourcesUnowned  = "resources-unowned"
	faultTopologyForgotten = "topology-forgotten"
)

func backendFaults() []fault.Fault {
	return []fault.Fault{
		fault.New(faultSyncOnStatus, "The backend is called when only the status of a PodGang has changed.", breaks("48")),
		fault.New(faultSyncOnce, "The backend is not called again when the spec of a PodGang changes.", breaks("48")),
		fault.New(faultBackendAfterGates, "The backend creates its resources after the gates are removed.", breaks("49 58")),
		fault.New(faultNoGang, "The kube backend creates no gang.", breaks("49 50 58 59")),
		fault.New(faultPodsUnprepared, "The backend does not prepare pods.", breaks("03 23 51 54")),
		fault.New(faultNoAnnotations, "Pods of the kai backend do not name their PodGroup.", breaks("60")),
		fault.New(faultTopologyForgotten, "The kai backend does not copy topology constraints to its PodGroup.",
			breaks("33 34")),
		fault.New(faultResourcesUnowned, "The backend's resources have no owner, and stay.", breaks("52")),
	}
}
