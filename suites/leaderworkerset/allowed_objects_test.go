package leaderworkerset_test

import (
	"fmt"
	"strings"
)

const label = "leaderworkerset.sigs.k8s.io/"

// services are four Services, the first with a selector.
func services(selector string) string {
	list := "- {metadata: {name: my-lws-0}, spec: {selector: " + selector + "}}\n"
	for _, name := range []string{"my-lws-1", "other-0", "other-1"} {
		set, index := name[:len(name)-2], name[len(name)-1:]
		list += fmt.Sprintf("- {metadata: {name: %s}, spec: {selector: {NAME: %s, INDEX: %q}}}\n", name, set, index)
	}
	return strings.NewReplacer("NAME", label+"name", "INDEX", label+"group-index").Replace(list)
}

// service is the Service of my-lws-0, which a pod owns.
func service(owner string) string {
	return fmt.Sprintf("- {metadata: {name: my-lws-0, uid: new, ownerReferences: [{kind: Pod, name: my-lws-0, uid: %s}]}}",
		owner)
}

// statefulSets are that of the leaders and, if there is one, that of the workers with so many available.
func statefulSets(available string) string {
	const set = "- {metadata: {name: %s, generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, " +
		"availableReplicas: %s, updatedReplicas: 1}}\n"
	list := fmt.Sprintf(set, "my-lws", "1")
	if available != "" {
		list += fmt.Sprintf(set, "my-lws-0", available)
	}
	return list
}

// pods are three groups of two that are ready, the first with a leader of that uid.
func pods(leader string) string {
	var list strings.Builder
	for index := range 3 {
		for worker := range 2 {
			name, uid := fmt.Sprintf("my-lws-%d", index), fmt.Sprintf("leader-%d", index)
			if index == 0 {
				uid = leader
			}
			if worker > 0 {
				name, uid = name+"-1", fmt.Sprintf("worker-%d", index)
			}
			fmt.Fprintf(&list, "- {metadata: {name: %s, uid: %s, labels: {%sgroup-index: %q}}, spec: {subdomain: my-lws}, "+
				"status: {conditions: [{type: Ready, status: 'True'}]}}\n", name, uid, label, fmt.Sprint(index))
		}
	}
	return list.String()
}

// group is the first group under UniquePerReplica, with the LWS_LEADER_ADDRESS of each pod.
func group(addresses ...string) string {
	var list strings.Builder
	for i, address := range addresses {
		fmt.Fprintf(&list, "- {metadata: {name: pod-%d, labels: {%sgroup-index: '0', %stemplate-revision-hash: a}}, spec: "+
			"{subdomain: my-lws-0, containers: [{env: [{name: LWS_LEADER_ADDRESS, value: %s}]}]}}\n", i, label, label, address)
	}
	return list.String()
}

// owned are the Services of leaders with these uids. Their LeaderWorkerSet owns them, too.
func owned(leaders ...string) string {
	var list strings.Builder
	for i, uid := range leaders {
		fmt.Fprintf(&list, "- {metadata: {name: my-lws-%d, ownerReferences: [{kind: LeaderWorkerSet, name: my-lws, uid: set}, "+
			"{kind: Pod, name: my-lws-%d, uid: %s}]}}\n", i, i, uid)
	}
	return list.String()
}
