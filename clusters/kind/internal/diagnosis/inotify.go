package diagnosis

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// InotifyLimit is the file that limits the inotify instances of one user of a machine, often to 128. All nodes of one
// engine share them.
const InotifyLimit = "/proc/sys/fs/inotify/max_user_instances"

// Inotify instances that a node uses, counted on a node of 1.35: kube-controller-manager, kubelet and kube-apiserver
// use six or seven each.
const (
	inotifyOfControlPlane = 27
	inotifyOfWorker       = 14
)

// raiseInotify is the command that raises the limit.
const raiseInotify = "sudo sysctl fs.inotify.max_user_instances=512"

// InotifyWarning returns a warning if a cluster's nodes need more instances than one user may have; "" if they do
// not, or if the limit is unknown.
func InotifyWarning(state clusters.State, limitFile string) string {
	text, err := os.ReadFile(limitFile)
	if err != nil {
		return "" // not Linux, so this is not the kernel of the nodes
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

// remedy returns what to do about a log that ends because no inotify instances were left; "" for other logs.
func remedy(log string) string {
	if !strings.Contains(log, "too many open files") {
		return ""
	}
	return " (the nodes of all clusters together may have used up this machine's inotify instances: delete some, or " +
		raiseInotify + ")"
}
