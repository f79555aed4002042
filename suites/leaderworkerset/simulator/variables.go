package simulator

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// The variables that every container in a group gets.
const (
	variableLeaderAddress = "LWS_LEADER_ADDRESS"
	variableGroupSize     = "LWS_GROUP_SIZE"
	variableWorkerIndex   = "LWS_WORKER_INDEX"
)

// addVariables adds the variables to all containers: the leader's address, the size of the group, and the pod's own
// index.
func (d *podDefaulter) addVariables(pod *corev1.Pod, m member) {
	leader, subdomain := m.leader, cmp.Or(m.address, pod.Spec.Subdomain)
	if d.behaviour.Has(faultAddressOfItself) {
		leader = pod.Name
	}
	if d.behaviour.Has(faultAddressInSharedDomain) {
		subdomain = m.set
	}
	address := leader + "." + subdomain
	if !d.behaviour.Has(faultAddressWithoutNamespace) {
		address += "." + m.namespace
	}
	variables := []corev1.EnvVar{
		{Name: variableLeaderAddress, Value: address},
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

// withVariables puts the variables first, so that the other ones can refer to them. It removes other variables with the
// same names.
func withVariables(env, variables []corev1.EnvVar) []corev1.EnvVar {
	env = slices.DeleteFunc(env, func(e corev1.EnvVar) bool {
		return slices.ContainsFunc(variables, func(v corev1.EnvVar) bool { return v.Name == e.Name })
	})
	return slices.Concat(variables, env)
}

const resourceTPU corev1.ResourceName = "google.com/tpu"

// The variables that the container with the TPUs gets.
const (
	variableTPUHostnames = "TPU_WORKER_HOSTNAMES"
	variableTPUAddresses = "TPU_PROCESS_ADDRESSES"
	variableTPUWorkerID  = "TPU_WORKER_ID"
	variableTPUName      = "TPU_NAME"
)

// tpuPort is the port on which the process of a TPU listens for those of the other TPUs.
const tpuPort = "8476"

// addTPUVariables adds variables to the container with TPUs: which pods of the group have TPUs, and which of them this
// pod is. It adds none if the container already has TPU_WORKER_HOSTNAMES or TPU_WORKER_ID.
func (d *podDefaulter) addTPUVariables(pod *corev1.Pod, m member) {
	container := tpuContainer(&pod.Spec)
	if container == nil {
		return
	}
	for _, e := range container.Env {
		if e.Name == variableTPUHostnames || e.Name == variableTPUWorkerID {
			return
		}
	}
	hostnames, id := d.tpuHosts(pod, m)
	addresses := make([]string, len(hostnames))
	for i, host := range hostnames {
		addresses[i] = host + ":" + tpuPort
	}
	container.Env = append(container.Env,
		corev1.EnvVar{Name: variableTPUHostnames, Value: strings.Join(hostnames, ",")},
		corev1.EnvVar{Name: variableTPUAddresses, Value: strings.Join(addresses, ",")},
		corev1.EnvVar{Name: variableTPUWorkerID, Value: strconv.Itoa(id)},
		corev1.EnvVar{Name: variableTPUName, Value: m.leader},
	)
}

// tpuHosts lists the host names of those pods in the group that have TPUs, and returns the index of this pod in the
// list. The leader is in the list only if it requests TPUs.
func (d *podDefaulter) tpuHosts(pod *corev1.Pod, m member) ([]string, int) {
	subdomain := pod.Spec.Subdomain
	if d.behaviour.Has(faultTPUInSharedDomain) {
		subdomain = m.set
	}
	var hostnames []string
	id := m.worker - 1
	if isLeader(pod) || pod.Annotations[api.AnnotationLeaderRequestsTPUs] == "true" ||
		d.behaviour.Has(faultTPULeaderAlways) {
		hostnames = append(hostnames, m.leader+"."+subdomain)
		id = m.worker
	}
	workers := m.size
	if d.behaviour.Has(faultTPUMissesLast) {
		workers--
	}
	for i := 1; i < workers; i++ {
		hostnames = append(hostnames, leaderName(m.leader, i)+"."+subdomain)
	}
	return hostnames, id
}

// tpuContainer returns the first container that requests TPUs; nil if there is none.
func tpuContainer(spec *corev1.PodSpec) *corev1.Container {
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		i := slices.IndexFunc(containers, func(c corev1.Container) bool {
			limit, request := c.Resources.Limits[resourceTPU], c.Resources.Requests[resourceTPU]
			return !limit.IsZero() || !request.IsZero()
		})
		if i >= 0 {
			return &containers[i]
		}
	}
	return nil
}
