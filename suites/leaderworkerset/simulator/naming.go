package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// ordinal splits the name of a StatefulSet's pod into the StatefulSet's name and the pod's ordinal.
func ordinal(podName string) (string, int, error) {
	dash := strings.LastIndexByte(podName, '-')
	if dash > 0 {
		digits := podName[dash+1:]
		if n, err := strconv.Atoi(digits); err == nil && strconv.Itoa(n) == digits {
			return podName[:dash], n, nil
		}
	}
	return "", 0, fmt.Errorf("pod %q is not named after a StatefulSet: want a name, a dash and a number", podName)
}

// leaderName is the name of a group's leader, its Service and its workers' StatefulSet.
func leaderName(set string, index int) string {
	return set + "-" + strconv.Itoa(index)
}

// groupKey is the same for all pods of a group, and is a valid label value.
func groupKey(namespace, leader string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + leader))
	return hex.EncodeToString(sum[:16])
}

func isLeader(pod *corev1.Pod) bool {
	return pod.Labels[api.LabelWorkerIndex] == api.LeaderIndex
}

// leaderSelector selects the leaders of one LeaderWorkerSet.
func leaderSelector(set string) map[string]string {
	return map[string]string{api.LabelName: set, api.LabelWorkerIndex: api.LeaderIndex}
}
