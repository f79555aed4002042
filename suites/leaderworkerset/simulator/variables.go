package simulator

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// The variables that every container of a group gets.
const (
	variableLeaderAddress = "LWS_LEADER_ADDRESS"
	variableGroupSize     = "LWS_GROUP_SIZE"
	variableWorkerIndex   = "LWS_WORKER_INDEX"
)

// addVariables tells the containers where their leader is and where they are themselves.
func (d *podDefaulter) addVariables(pod *corev1.Pod, m member) {
	leader, subdomain := m.leader, pod.Spec.Subdomain
	if d.behaviour.has(faultAddressOfItself) {
		leader = pod.Name
	}
	if d.behaviour.has(faultAddressInSharedDomain) {
		subdomain = m.set
	}
	variables := []corev1.EnvVar{
		{Name: variableLeaderAddress, Value: leader + "." + subdomain + "." + m.namespace},
		{Name: variableGroupSize, Value: strconv.Itoa(m.size)},
		{Name: variableWorkerIndex, Value: strconv.Itoa(m.worker)},
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Env = withVariables(containers[i].Env, variables)
		}
	}
	d.addTPUVariables(pod, m)
}

// withVariables puts variables first, so that the others can refer to them, and instead of any others of their names.
func withVariables(env, variables []corev1.EnvVar) []corev1.EnvVar {
	env = slices.DeleteFunc(env, func(e corev1.EnvVar) bool {
		return slices.ContainsFunc(variables, func(v corev1.EnvVar) bool { return v.Name == e.Name })
	})
	return slices.Concat(variables, env)
}
