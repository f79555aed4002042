package diagnosis

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// podStarts are the starts of the container of one pod of a component, counted by its log files.
type podStarts struct {
	// folder has the pod's logs. Its name contains the pod's identity, which is always the same for the same manifest.
	folder string
	// last is the number of the last start; the first is 0. All starts but the last have certainly ended.
	last int
	// said is the end of the log of the start before the last. If that log is gone, it is the end of the last one:
	// kubelet removes the log of a start as soon as the next start has ended, too.
	said string
}

type Starts []podStarts

// startsScript prints for each pod of components a line with its folder and the number of its last start, and the
// last lines of the log of the start before, if there was one.
const startsScript = `for component in "$@"; do
  for pod in /var/log/pods/kube-system_"$component"-*; do
    [ -d "$pod/$component" ] || continue
    last=
    before=
    count=0
    for log in $(ls "$pod/$component" | grep -E '^[0-9]+\.log$' | sort -n); do
      before="$last"
      last="$log"
      count="${log%.log}"
    done
    echo "pod $pod $count"
    [ "$count" = 0 ] || tail -n 15 "$pod/$component/${before:-$last}" | sed 's/^/said /'
  done
done`

// StartsOf returns the starts of components' containers in this node.
func StartsOf(ctx context.Context, n nodes.Node, components ...clusters.Component) (Starts, error) {
	var names []string
	for _, component := range components {
		names = append(names, string(component))
	}
	out, err := n.Shell(ctx, startsScript, names...)
	if err != nil {
		return nil, err
	}
	return parse(out), nil
}

// Of returns the starts of one component.
func (s Starts) Of(component clusters.Component) Starts {
	return slices.DeleteFunc(slices.Clone(s), func(pod podStarts) bool {
		return !strings.HasPrefix(path.Base(pod.folder), "kube-system_"+string(component)+"-")
	})
}

func parse(out string) Starts {
	var pods Starts
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if rest, found := strings.CutPrefix(line, "pod "); found {
			var p podStarts
			if _, err := fmt.Sscan(rest, &p.folder, &p.last); err == nil {
				pods = append(pods, p)
			}
			continue
		}
		if rest, found := strings.CutPrefix(line, "said "); found && len(pods) > 0 {
			pods[len(pods)-1].said += rest + "\n"
		}
	}
	return pods
}

// transient matches what a component logs that could not reach the API server yet; kubelet starts it again.
var transient = regexp.MustCompile(`(?i)connection refused|i/o timeout|TLS handshake|context deadline exceeded|: EOF|no route to host|connection reset|server is currently unable|address already in use|leaderelection lost|not yet|apiserver being healthy|StorageError|etcdserver`)

// enough ends are a failure, whatever the component logged.
const enough = 3

// Failure returns why a component does not start; nil if it may still start. It has failed if more starts ended since
// before than are forgiven, for a reason that another start does not fix; or for any reason if three ended. These
// three do not include excused ones, which ended while something that the component needs was away.
func (s Starts) Failure(component clusters.Component, before Starts, forgiven, excused int) error {
	for _, pod := range s {
		ended := pod.ended(before)
		if ended <= forgiven || ended < enough+excused && mayMend(decisive(pod.said)) {
			continue
		}
		return DoesNotStart(component, pod.said)
	}
	return nil
}

// mayMend reports whether another start may fix the problem in a component's last line. A component that logs nothing
// was ended from outside.
func mayMend(line string) bool { return line == "" || transient.MatchString(line) }

// ended counts the starts since before that have certainly ended.
func (p podStarts) ended(before Starts) int {
	known := -1
	for _, old := range before {
		if old.folder == p.folder {
			known = old.last
		}
	}
	return p.last - known - 1
}

// Ended returns the number of starts since before that have ended, of the pod with the most.
func (s Starts) Ended(before Starts) int {
	most := 0
	for _, pod := range s {
		most = max(most, pod.ended(before))
	}
	return most
}
