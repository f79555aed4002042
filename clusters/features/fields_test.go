package features

import "testing"

func TestGateOf(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		path []any
		want string
	}{
		"a container of a pod": {"Pod", []any{"spec", "containers", 0, "restartPolicyRules"}, "ContainerRestartRules"},
		"below the field": {
			"Pod",
			[]any{"spec", "containers", 0, "restartPolicyRules", 1, "action"},
			"ContainerRestartRules",
		},
		"above the field": {"Pod", []any{"spec", "containers", 0}, ""},
		"a template":      {"Deployment", []any{"spec", "template", "spec", "hostnameOverride"}, "HostnameOverride"},
		"a template in a template": {
			"CronJob",
			[]any{"spec", "jobTemplate", "spec", "template", "spec", "volumes", 2, "image"},
			"ImageVolume",
		},
		"resources of the pod":     {"Pod", []any{"spec", "resources"}, "PodLevelResources"},
		"resources of a container": {"Pod", []any{"spec", "containers", 0, "resources"}, ""},
		"resources of something":   {"PersistentVolumeClaim", []any{"spec", "resources"}, ""},
		"any name": {
			"HorizontalPodAutoscaler",
			[]any{"spec", "behavior", "scaleUp", "tolerance"},
			"HPAConfigurableTolerance",
		},
		"the kind's own": {
			"StatefulSet",
			[]any{"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"},
			"MaxUnavailableStatefulSet",
		},
		"the same of another kind": {"Deployment", []any{"spec", "strategy", "rollingUpdate", "maxUnavailable"}, ""},
		"a claim's template": {
			"ResourceClaimTemplate",
			[]any{"spec", "spec", "devices", "requests", 0, "firstAvailable"},
			"DRAPrioritizedList",
		},
		"a field of 1.37": {
			"Pod",
			[]any{"spec", "containers", 0, "livenessProbe", "grpc", "mode"},
			"GRPCContainerProbeTLS",
		},
		"nothing": {"Pod", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := GateOf(c.kind, c.path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
