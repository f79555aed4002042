package diagnosis

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// InotifyLimit is how many inotify instances one user of a machine may have, and so all nodes of one engine together;
// many machines say 128.
const InotifyLimit = "/proc/sys/fs/inotify/max_user_instances"

// What a node takes of them, counted on a node of 1.35: kube-controller-manager, kubelet and kube-apiserver six or
// seven each.
const (
	inotifyOfControlPlane = 27
	inotifyOfWorker       = 14
)

// raiseInotify says what to do about it.
const raiseInotify = "sudo sysctl fs.inotify.max_user_instances=512"

// InotifyWarning says that a cluster's nodes want more instances than one user may have, "" when they do not or
// nobody knows.
func InotifyWarning(state clusters.State, limitFile string) string {
	text, err := os.ReadFile(limitFile)
	if err != nil {
		return "" // not Linux, and so not the kernel that the nodes have
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	workers := 0
	for _, group := range state.Nodes {
		workers += len(group.Names())
	}
	wanted := inotifyOfControlPlane*state.NumberOfControlPlanes() + inotifyOfWorker*workers
	if err != nil || wanted <= limit {
		return ""
	}
	return fmt.Sprintf("its nodes need about %d inotify instances, but the limit of this machine is %d per user: if "+
		"a component logs \"too many open files\", raise the limit (%s)", wanted, limit, raiseInotify)
}

// remedy is for the end of a log that says that there were no inotify instances left, "" for others.
func remedy(log string) string {
	if !strings.Contains(log, "too many open files") {
		return ""
	}
	return " (the nodes of all clusters together may have used up this machine's inotify instances: delete some, or " +
		raiseInotify + ")"
}
