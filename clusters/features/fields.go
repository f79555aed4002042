package features

import (
	"slices"
	"strings"
)

// GateOf returns the feature gate that a field of a Kubernetes kind depends on; "" if none is known here. The path to
// the field has names (string) and list indices (int).
//
// An API server drops such a field silently if the gate is off, and no published list says which gate a field depends
// on. The table is from the API's own types and strategies, as of 1.37.
func GateOf(kind string, path []any) string {
	names := namesOf(path)
	if gate := gateIn(fieldsOfKinds()[kind], names); gate != "" {
		return gate
	}
	if inside, ok := insidePodSpec(kind, names); ok {
		return gateIn(fieldsOfPodSpecs(), inside)
	}
	return ""
}

// namesOf returns the path without list indices.
func namesOf(path []any) []string {
	var names []string
	for _, part := range path {
		if name, ok := part.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// insidePodSpec returns the path within the pod's spec; false if the path is not in one.
func insidePodSpec(kind string, names []string) ([]string, bool) {
	if kind == "Pod" {
		return names[min(1, len(names)):], len(names) > 1 && names[0] == "spec"
	}
	for i := 1; i < len(names); i++ {
		if names[i-1] == "template" && names[i] == "spec" {
			return names[i+1:], true
		}
	}
	return nil, false
}

// gateIn returns the gate of the longest field in the table that contains the path. A "*" stands for any one name.
func gateIn(table map[string]string, names []string) string {
	found, length := "", 0
	for field, gate := range table {
		parts := strings.Split(field, ".")
		if len(parts) <= length || len(parts) > len(names) {
			continue
		}
		if slices.EqualFunc(parts, names[:len(parts)], func(part, name string) bool { return part == "*" || part == name }) {
			found, length = gate, len(parts)
		}
	}
	return found
}

// fieldsOfPodSpecs are the fields of a pod's spec, also in templates.
func fieldsOfPodSpecs() map[string]string {
	return map[string]string{
		"resources":                                    "PodLevelResources",
		"containers.restartPolicy":                     "ContainerRestartRules",
		"containers.restartPolicyRules":                "ContainerRestartRules",
		"initContainers.restartPolicyRules":            "ContainerRestartRules",
		"containers.env.valueFrom.fileKeyRef":          "EnvFiles",
		"initContainers.env.valueFrom.fileKeyRef":      "EnvFiles",
		"containers.lifecycle.stopSignal":              "ContainerStopSignals",
		"initContainers.lifecycle.stopSignal":          "ContainerStopSignals",
		"containers.resizePolicy":                      "InPlacePodVerticalScaling",
		"containers.resources.claims":                  "DynamicResourceAllocation",
		"containers.securityContext.procMount":         "ProcMountType",
		"resourceClaims":                               "DynamicResourceAllocation",
		"hostnameOverride":                             "HostnameOverride",
		"hostUsers":                                    "UserNamespacesSupport",
		"schedulingGroup":                              "GenericWorkload",
		"workloadRef":                                  "GenericWorkload",
		"volumes.image":                                "ImageVolume",
		"volumes.projected.sources.clusterTrustBundle": "ClusterTrustBundleProjection",
		"volumes.projected.sources.podCertificate":     "PodCertificateRequest",
		"topologySpreadConstraints.matchLabelKeys":     "MatchLabelKeysInPodTopologySpread",
		"affinity.*.*.matchLabelKeys":                  "MatchLabelKeysInPodAffinity",
		"affinity.*.*.mismatchLabelKeys":               "MatchLabelKeysInPodAffinity",
		"securityContext.supplementalGroupsPolicy":     "SupplementalGroupsPolicy",
		"securityContext.seLinuxChangePolicy":          "SELinuxChangePolicy",
		"evictionResponders":                           "EvictionRequestAPI",
		"volumes.emptyDir.mode":                        "EmptyDirVolumeMode",
		"volumes.*.defaultUser":                        "AtomicWriteVolumeUserFields",
		"containers.volumeMounts.bindMountOptions":     "VolumeBindMountOptions",
		"initContainers.volumeMounts.bindMountOptions": "VolumeBindMountOptions",
		"containers.*.httpGet.protocol":                "H2CContainerProbe",
		"initContainers.*.httpGet.protocol":            "H2CContainerProbe",
		"containers.*.grpc.mode":                       "GRPCContainerProbeTLS",
		"initContainers.*.grpc.mode":                   "GRPCContainerProbeTLS",
	}
}

// fieldsOfKinds are the other fields, by their kinds.
func fieldsOfKinds() map[string]map[string]string {
	claims := func(before string) map[string]string {
		return map[string]string{
			before + "devices.requests.firstAvailable":      "DRAPrioritizedList",
			before + "devices.requests.exactly.adminAccess": "DRAAdminAccess",
			before + "devices.requests.exactly.tolerations": "DRADeviceTaints",
			before + "devices.requests.exactly.capacity":    "DRAConsumableCapacity",
		}
	}
	return map[string]map[string]string{
		"HorizontalPodAutoscaler": {"spec.behavior.*.tolerance": "HPAConfigurableTolerance"},
		"StatefulSet":             {"spec.updateStrategy.rollingUpdate.maxUnavailable": "MaxUnavailableStatefulSet"},
		"Job": {
			"spec.managedBy": "JobManagedBy", "spec.successPolicy": "JobSuccessPolicy",
			"spec.podReplacementPolicy": "JobPodReplacementPolicy",
			"spec.backoffLimitPerIndex": "JobBackoffLimitPerIndex", "spec.maxFailedIndexes": "JobBackoffLimitPerIndex",
		},
		"CSIDriver": {
			"spec.nodeAllocatableUpdatePeriodSeconds": "MutableCSINodeAllocatableCount",
			"spec.serviceAccountTokenInSecrets":       "CSIServiceAccountTokenSecrets",
			"spec.preventPodSchedulingIfMissing":      "VolumeLimitScaling",
		},
		"PersistentVolume":      {"spec.volumeAttributesClassName": "VolumeAttributesClass"},
		"PersistentVolumeClaim": {"spec.volumeAttributesClassName": "VolumeAttributesClass"},
		"ResourceClaim":         claims("spec."),
		"ResourceClaimTemplate": claims("spec.spec."),
		"ResourceSlice": {
			"spec.sharedCounters": "DRAPartitionableDevices", "spec.perDeviceNodeSelection": "DRAPartitionableDevices",
			"spec.devices.consumesCounters": "DRAPartitionableDevices", "spec.devices.taints": "DRADeviceTaints",
			"spec.devices.bindingConditions":        "DRADeviceBindingConditions",
			"spec.devices.allowMultipleAllocations": "DRAConsumableCapacity",
		},
		"DeviceClass":   {"spec.extendedResourceName": "DRAExtendedResource"},
		"Lease":         {"spec.strategy": "CoordinatedLeaderElection", "spec.preferredHolder": "CoordinatedLeaderElection"},
		"EndpointSlice": {"endpoints.hints.forNodes": "PreferSameTrafficDistribution"},
		"Node":          {"status.declaredFeatures": "NodeDeclaredFeatures"},
	}
}
