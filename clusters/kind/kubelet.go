package kind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// Places of kubelet in a node.
const (
	kubeletConfig  = "/var/lib/kubelet/config.yaml"
	kubeletFlags   = "/var/lib/kubelet/kubeadm-flags.env"
	kindVersion    = "/kind/version"
	kubeletFlagKey = "KUBELET_KUBEADM_ARGS="
)

// kubeletChange is what a node's kubelet is to be.
type kubeletChange struct {
	state         clusters.State
	config, flags string
	// programs to put in the place of those before; nil to leave them.
	programs      *artifacts
	startedBefore float64
	// cursor is where the node's journal ended when the kubelet before had.
	cursor string
	// sought is when it was last looked whether it fails to start.
	sought time.Time
}

// planKubelet says how to bring one node's kubelet, kubeadm and kubectl to a state; nil when they are there.
func (c *Cluster) planKubelet(ctx context.Context, n node, state clusters.State, bin artifacts) (*kubeletChange, error) {
	config, err := n.read(ctx, kubeletConfig)
	if err != nil {
		return nil, err
	}
	flags, err := n.read(ctx, kubeletFlags)
	if err != nil {
		return nil, err
	}
	change := &kubeletChange{state: state}
	if change.config, err = withGates(config, state.Gates(clusters.Kubelet)); err != nil {
		return nil, fmt.Errorf("read the configuration of kubelet on %s: %w", n.name, err)
	}
	ours := c.oursOf(clusters.Kubelet)
	change.flags = kubeletFlagsFile(flags, state.Components[clusters.Kubelet].Flags, ours)
	if goneFlags(state.Version) {
		change.flags = goneFlag.ReplaceAllString(change.flags, "")
	}
	version, err := n.shell(ctx, "kubelet --version")
	if err != nil {
		return nil, fmt.Errorf("ask kubelet on %s for its version: %w", n.name, err)
	}
	if strings.TrimPrefix(version, "Kubernetes v") != state.Version {
		change.programs = &bin
	}
	same, err := sameYAML(config, change.config)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of kubelet on %s: %w", n.name, err)
	}
	if same && flags == change.flags && change.programs == nil {
		return nil, nil
	}
	return change, c.remember(clusters.Kubelet, ours)
}

// nodePrograms are those of a node that are of its version.
var nodePrograms = []string{string(clusters.Kubelet), "kubeadm", "kubectl"}

// files adds those of kubelet to others.
func (change *kubeletChange) files(files []nodeFile) ([]nodeFile, error) {
	for path, text := range map[string]string{kubeletConfig: change.config, kubeletFlags: change.flags} {
		if text != "" { // it is else restarted as it was
			files = append(files, nodeFile{path, "644", strings.NewReader(text)})
		}
	}
	if change.programs == nil {
		return files, nil
	}
	for _, program := range nodePrograms {
		file, err := os.Open(filepath.Join(change.programs.dir, program))
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, nodeFile{"/usr/bin/" + program, "755", file})
	}
	return files, nil
}

// goneFlag is what kubeadm writes for kubelet before 1.35, which knows it no longer. kubelet before it has a default that does as well.
var goneFlag = regexp.MustCompile(` ?--pod-infra-container-image=[^ "]*`)

func goneFlags(version string) bool {
	v, err := clusters.ParseVersion(version)
	return err == nil && v.Minor >= 35
}

// installProgram puts a program of another version in the place of the one that is there.
func (n node) installProgram(ctx context.Context, bin artifacts, program string) error {
	file, err := os.Open(filepath.Join(bin.dir, program))
	if err != nil {
		return err
	}
	defer file.Close()
	return n.write(ctx, "/usr/bin/"+program, file, "755")
}

// kubeletReplaced is nil once the new kubelet runs and its node is Ready. That it does not start is an error that is final.
func (c *Cluster) kubeletReplaced(ctx context.Context, n node, change *kubeletChange) error {
	ctx, cancel := context.WithTimeout(ctx, oneLook)
	defer cancel()
	err := c.kubeletIsNew(ctx, n, change)
	if err == nil || time.Since(change.sought) < failureInterval {
		return err
	}
	change.sought = time.Now()
	if failure := n.kubeletFailure(ctx, change.cursor, 0); failure != nil {
		return final(failure)
	}
	return err
}

// kubeletIsNew is nil once the new kubelet proves what it is, and its node is Ready.
func (c *Cluster) kubeletIsNew(ctx context.Context, n node, change *kubeletChange) error {
	metrics, err := c.nodeMetrics(ctx, clusters.Kubelet, n)
	if err != nil {
		return err
	}
	if at := startTime(metrics); at == 0 || at == change.startedBefore {
		return errors.New("the one before still runs")
	}
	if err := proof.Component(metrics, change.state.Version, change.state.Gates(clusters.Kubelet)); err != nil {
		return err
	}
	object, err := c.client.CoreV1().Nodes().Get(ctx, n.nodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if got := object.Status.NodeInfo.KubeletVersion; got != "v"+change.state.Version {
		return fmt.Errorf("the node still says %s", got)
	}
	if why := notReady(object.Status.Conditions); why != "" {
		return fmt.Errorf("the node is not Ready: %s", why)
	}
	return nil
}

// kubeletScript prints how often systemd started kubelet again since it was started by us, and what kubelet said since then.
const kubeletScript = `systemctl show kubelet --property NRestarts --value
journalctl _COMM=kubelet ${1:+"--after-cursor=$1"} --lines 200 --output cat --no-pager`

// kubeletFailure says why kubelet does not start, nil when it does or that is not to be seen yet: it was started again more often than is forgiven, and
// said why, or was started again three times.
func (n node) kubeletFailure(ctx context.Context, cursor string, forgiven int) error {
	out, err := n.shell(ctx, kubeletScript, cursor)
	if err != nil {
		return nil // not to be seen now
	}
	first, rest, _ := strings.Cut(out, "\n")
	restarts, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || restarts <= forgiven || restarts < 3 && !hasFatal(rest) {
		return nil
	}
	return doesNotStart(clusters.Kubelet, rest)
}

// withGates sets the feature gates of a KubeletConfiguration or a KubeProxyConfiguration.
func withGates(config string, gates map[string]bool) (string, error) {
	var tree object
	if err := yaml.Unmarshal([]byte(config), &tree); err != nil {
		return "", err
	}
	if tree == nil {
		return "", errors.New("it is empty")
	}
	delete(tree, "featureGates")
	if len(gates) > 0 {
		tree["featureGates"] = gates
	}
	data, err := yaml.Marshal(tree)
	return string(data), err
}

func sameYAML(a, b string) (bool, error) {
	one, err1 := yaml.YAMLToJSON([]byte(a))
	two, err2 := yaml.YAMLToJSON([]byte(b))
	return string(one) == string(two), errors.Join(err1, err2)
}

// kubeletFlagsFile edits the file from which kubelet's unit takes its flags. Those of earlier states that are no longer wanted go back to what they were.
func kubeletFlagsFile(file string, wanted map[string]string, ours map[string]*string) string {
	if len(wanted) == 0 && len(ours) == 0 {
		return file
	}
	line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(file), kubeletFlagKey))
	flags := map[string]string{}
	for _, word := range strings.Fields(strings.Trim(line, `"`)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		flags[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if _, still := wanted[name]; still {
			continue
		}
		if delete(flags, name); ours[name] != nil {
			flags[name] = *ours[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if _, known := ours[name]; !known {
			ours[name] = nil
			if value, had := flags[name]; had {
				ours[name] = &value
			}
		}
		flags[name] = wanted[name]
	}
	words := make([]string, 0, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		words = append(words, "--"+name+"="+flags[name])
	}
	return kubeletFlagKey + `"` + strings.Join(words, " ") + "\"\n"
}
