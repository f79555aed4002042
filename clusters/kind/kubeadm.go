package kind

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// MethodKubeadm makes a version step with `kubeadm upgrade`, for those who rehearse that very tool.
const MethodKubeadm = "kubeadm"

// CheckMethod refuses methods that there are not, and steps that kubeadm does not take.
func (p *Provider) CheckMethod(from, to clusters.State, method string) error {
	if method != MethodKubeadm {
		return fmt.Errorf("kind clusters know %s, and their own way without a name", MethodKubeadm)
	}
	return checkKubeadm(from, to)
}

func checkKubeadm(from, to clusters.State) error {
	before, err1 := clusters.ParseVersion(from.Version)
	after, err2 := clusters.ParseVersion(to.Version)
	switch {
	case errors.Join(err1, err2) != nil:
		return errors.Join(err1, err2)
	case after.Compare(before) <= 0:
		return fmt.Errorf("kubeadm upgrade goes up to another version only: not from %s to %s", before, after)
	case after.Major != before.Major || after.Minor > before.Minor+1:
		return fmt.Errorf("kubeadm upgrade goes up by one minor version at a time: not from %s to %s", before, after)
	}
	return nil
}

// ConvergeBy is Converge by a method: "" for our own, or MethodKubeadm.
func (c *Cluster) ConvergeBy(ctx context.Context, state clusters.State, method string) error {
	switch method {
	case "":
		return c.Converge(ctx, state)
	case MethodKubeadm:
		return c.convergeByKubeadm(ctx, state)
	}
	return fmt.Errorf("method %q: kind clusters know %s, and their own without a name", method, MethodKubeadm)
}

// convergeByKubeadm upgrades with kubeadm, and brings what kubeadm does not change (kubelet, and gates) to the state afterwards.
func (c *Cluster) convergeByKubeadm(ctx context.Context, state clusters.State) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	from := c.State()
	if err := checkStep(from, state); err != nil {
		return err
	}
	if err := checkKubeadm(from, state); err != nil {
		return err
	}
	if _, err := c.setOut(state.Version); err != nil {
		return err
	}
	if err := c.readyKubeadm(ctx, state); err != nil {
		return err
	}
	if err := c.runKubeadm(ctx, state); err != nil {
		return err
	}
	// kubeadm leaves kubelet to its user.
	return c.Converge(ctx, state)
}

// readyKubeadm brings into the nodes all that kubeadm's upgrade needs.
func (c *Cluster) readyKubeadm(ctx context.Context, state clusters.State) error {
	bin, err := c.bring(ctx, state.Version)
	if err != nil {
		return err
	}
	for _, n := range c.nodes {
		if err := n.loadImages(ctx, bin.dir+"/"+addonsTar, bin.addons); err != nil {
			return err
		}
		if err := n.installProgram(ctx, bin, "kubeadm"); err != nil {
			return err
		}
	}
	return c.writeClusterConfiguration(ctx, state)
}

// runKubeadm upgrades node by node: the first decides, the others follow.
func (c *Cluster) runKubeadm(ctx context.Context, state clusters.State) error {
	for i, n := range c.nodes {
		script := `kubeadm upgrade node --ignore-preflight-errors=SystemVerification,CreateJob`
		switch {
		case i == 0:
			script = `kubeadm upgrade apply "$1" --yes --patches "$2" --ignore-preflight-errors=SystemVerification,CreateJob`
		case n.controlPlane:
			script += ` --patches "$2"`
		}
		c.provider.Progress("kind cluster %s: kubeadm upgrade on %s", c.record.Name, n.name)
		if out, err := n.shell(ctx, script+" 2>&1", "v"+state.Version, patchesFolder); err != nil {
			return explainKubeadm(n, out, err)
		}
	}
	return nil
}

func explainKubeadm(n node, out string, err error) error {
	if ctxErr := errors.Unwrap(err); errors.Is(ctxErr, context.Canceled) || errors.Is(ctxErr, context.DeadlineExceeded) {
		return err
	}
	if lines := kubeadmError.FindAllString(out, 5); len(lines) > 0 {
		return fmt.Errorf("kubeadm upgrade on %s: %s", n.name, strings.Join(lines, " / "))
	}
	return fmt.Errorf("kubeadm upgrade on %s: %w", n.name, err)
}

// writeClusterConfiguration keeps what kubeadm writes the manifests of a new version from, so that it writes them with the state's flags.
func (c *Cluster) writeClusterConfiguration(ctx context.Context, state clusters.State) error {
	const name, key = "kubeadm-config", "ClusterConfiguration"
	maps := c.client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	config, err := maps.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the ConfigMap %s: %w", name, err)
	}
	var tree object
	if err := yaml.Unmarshal([]byte(config.Data[key]), &tree); err != nil {
		return fmt.Errorf("read the ConfigMap %s: %w", name, err)
	}
	sections := map[clusters.Component]string{clusters.APIServer: "apiServer", clusters.ControllerManager: "controllerManager", clusters.Scheduler: "scheduler"}
	for component, section := range sections {
		part, _ := tree[section].(object)
		if part == nil {
			part = object{}
			tree[section] = part
		}
		part["extraArgs"] = editExtraArgs(part["extraArgs"], c.oursOf(component), stateFlags(state, component))
	}
	data, err := yaml.Marshal(tree)
	if err != nil {
		return err
	}
	config.Data[key] = string(data)
	if _, err := maps.Update(ctx, config, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write the ConfigMap %s: %w", name, err)
	}
	return nil
}

// editExtraArgs sets flags in kubeadm's extraArgs, and puts those of earlier states back: a map until v1beta3, a list of names and values since.
func editExtraArgs(args any, ours map[string]*string, wanted map[string]string) any {
	if list, isList := args.([]any); isList {
		kept := []any{}
		for _, item := range list {
			entry, _ := item.(object)
			name, _ := entry["name"].(string)
			_, replaced := wanted[name]
			if _, known := ours[name]; !replaced && !known {
				kept = append(kept, item)
			}
		}
		for _, name := range clusters.SortedKeys(ours) {
			if _, replaced := wanted[name]; !replaced && ours[name] != nil {
				kept = append(kept, object{"name": name, "value": *ours[name]})
			}
		}
		for _, name := range clusters.SortedKeys(wanted) {
			kept = append(kept, object{"name": name, "value": wanted[name]})
		}
		return kept
	}
	edited := object{}
	if existing, isMap := args.(object); isMap {
		for name, value := range existing {
			edited[name] = value
		}
	}
	for name, before := range ours {
		if delete(edited, name); before != nil {
			edited[name] = *before
		}
	}
	for name, value := range wanted {
		edited[name] = value
	}
	return edited
}
