package local

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
)

// defaultCapacity has room for the pods of many scenarios that share a cluster. Those of real nodes, 110 pods, were not
// enough: hundreds of scenarios at once left pods of a correct system pending.
var defaultCapacity = map[string]string{
	"cpu": "32", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000",
}

// groupAnnotation is the annotation of a node that lists what it has from its group. What others add stays.
const groupAnnotation = "rehearse.dev/of-group"

// groupSettings are the labels, the taints and the names of the resources that a node has from its group.
type groupSettings struct {
	Labels    map[string]string     `json:"labels,omitempty"`
	Taints    []corev1.Taint        `json:"taints,omitempty"`
	Resources []corev1.ResourceName `json:"resources,omitempty"`
}

// nodesOf returns the Node objects of a state. Kubelets have the cluster's version.
func nodesOf(state clusters.State) []*corev1.Node {
	var nodes []*corev1.Node
	for _, group := range state.Nodes {
		capacity := maps.Clone(defaultCapacity)
		maps.Copy(capacity, group.Capacity)
		resources := corev1.ResourceList{}
		for name, quantity := range capacity {
			resources[corev1.ResourceName(name)] = resource.MustParse(quantity)
		}
		for _, name := range group.Names() {
			labels := map[string]string{
				clusters.NodeLabel: "true", corev1.LabelHostname: name, corev1.LabelOSStable: "linux",
				corev1.LabelArchStable: "amd64",
			}
			maps.Copy(labels, group.Labels)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
			for _, taint := range group.Taints {
				node.Spec.Taints = append(node.Spec.Taints,
					corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
			}
			text, _ := json.Marshal(groupSettings{labels, node.Spec.Taints, slices.Sorted(maps.Keys(resources))}) // texts only
			node.Annotations = map[string]string{groupAnnotation: string(text)}
			node.Status.Capacity, node.Status.Allocatable = resources, resources
			node.Status.NodeInfo = corev1.NodeSystemInfo{
				KubeletVersion: kubeletVersion(state), OperatingSystem: "linux",
				Architecture: "amd64", OSImage: "simulated", ContainerRuntimeVersion: "kwok",
			}
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// kubeletVersion is the cluster's version; a kubelet may not be newer than the version that the cluster emulates.
func kubeletVersion(state clusters.State) string {
	if state.EmulatedVersion != "" {
		return "v" + state.EmulatedVersion + ".0"
	}
	return "v" + state.Version
}

// nodesKeeper keeps the simulated nodes as the state says.
type nodesKeeper struct {
	*programs
	client kubernetes.Interface
}

// convergeNodes brings the cluster's simulated nodes to the state, and returns when they are ready.
func (c *nodesKeeper) convergeNodes(ctx context.Context, state clusters.State) error {
	wanted := nodesOf(state)
	if len(state.Nodes) == 0 && c.process(nodesProcess) == nil {
		return nil // but a group of zero nodes needs the simulator, for nodes that others create
	}
	if err := keepUp(c.programs, nodesProcess, simulation(c.programs)); err != nil {
		return err
	}
	list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: clusters.NodeLabel})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	present := map[string]corev1.Node{}
	for _, node := range list.Items {
		present[node.Name] = node
	}
	if len(wanted) > 0 && len(present) == 0 {
		if err := c.putDefaultClass(ctx); err != nil {
			return err
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	names := map[string]bool{}
	for _, node := range wanted {
		names[node.Name] = true
		old, exists := present[node.Name]
		group.Go(func() error { return c.putNode(groupCtx, node, exists, old) })
	}
	for name := range present {
		if !names[name] {
			group.Go(func() error { return c.dropNode(groupCtx, name) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return c.nodesReady(ctx, names)
}

// putDefaultClass creates a default StorageClass, as kind has one. A cluster that has classes keeps them, such as a
// copy.
func (c *nodesKeeper) putDefaultClass(ctx context.Context) error {
	api := c.client.StorageV1().StorageClasses()
	list, err := api.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return fmt.Errorf("list StorageClasses: %w", err)
	}
	if len(list.Items) > 0 {
		return nil
	}
	expands, policy := true, corev1.PersistentVolumeReclaimDelete
	waits := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        clusters.DefaultClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: clusters.SimulatedProvisioner, ReclaimPolicy: &policy, VolumeBindingMode: &waits,
		AllowVolumeExpansion: &expands,
	}
	if _, err := api.Create(ctx, class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create StorageClass %s: %w", class.Name, err)
	}
	return nil
}

// simulation is how this program simulates nodes. A cluster that outlives its program may be opened by another one.
func simulation(c *programs) started {
	c.mu.Lock()
	defer c.mu.Unlock()
	return started{Program: c.provider.Executable, Args: []string{
		component.Command, "nodes",
		"--kubeconfig=" + c.layout.kubeconfig(), fmt.Sprintf("--volumes=%t", bindsVolumes(c.record.State)),
	}}
}

// bindsVolumes reports whether kube-controller-manager binds claims. It does not in a copy of a user's cluster, where a
// new volume would look like one of the user's.
func bindsVolumes(state clusters.State) bool {
	controllers := strings.Split(state.Flags(clusters.ControllerManager)["controllers"], ",")
	return !slices.Contains(controllers, "-persistentvolume-binder-controller")
}

// APIServers returns the process of each API server.
func (c *programs) APIServers() map[string]int {
	servers := c.PIDs()
	maps.DeleteFunc(servers, func(name string, _ int) bool { return !isAPIServer(clusters.Component(name)) })
	return servers
}

// renewClients restarts the node simulation and the DNS server, if they run, after API servers were restarted. An
// upgrade restarts kubelets, too. The watches of these programs come back later after each restart of the API server,
// since client-go doubles the delay, up to a minute. Until then DNS would answer with what was before.
func (c *roller) renewClients(ctx context.Context) error {
	if c.process(nodesProcess) != nil {
		if err := c.replace(ctx, nodesProcess, simulation(c.programs)); err != nil {
			return err
		}
	}
	if c.process(dnsProcess) == nil {
		return nil
	}
	if err := c.replace(ctx, dnsProcess, dnsServer(c.programs)); err != nil {
		return err
	}
	return answersDNS(ctx, c.programs)
}

func (c *nodesKeeper) putNode(ctx context.Context, node *corev1.Node, exists bool, old corev1.Node) error {
	if !exists {
		if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", node.Name, err)
		}
		return nil
	}
	if err := c.patchNode(ctx, node, old); err != nil {
		return fmt.Errorf("change node %s: %w", node.Name, err)
	}
	return nil
}

// patchNode changes labels, taints and capacity of a node. What others have set stays, such as the taints of the
// cluster itself.
func (c *nodesKeeper) patchNode(ctx context.Context, node *corev1.Node, old corev1.Node) error {
	before := settingsOfGroup(old)
	labels := map[string]any{}
	for key := range before.Labels {
		labels[key] = nil
	}
	for key, value := range node.Labels {
		labels[key] = value
	}
	taints := append([]corev1.Taint{}, node.Spec.Taints...)
	for _, taint := range old.Spec.Taints {
		same := func(other corev1.Taint) bool { return taint.MatchTaint(&other) }
		if !slices.ContainsFunc(before.Taints, same) && !slices.ContainsFunc(node.Spec.Taints, same) {
			taints = append(taints, taint)
		}
	}
	resources := map[corev1.ResourceName]any{}
	for _, name := range before.Resources {
		resources[name] = nil
	}
	for name, quantity := range node.Status.Capacity {
		resources[name] = quantity
	}
	for subresource, patch := range map[string]map[string]any{
		"": {
			"metadata": map[string]any{"labels": labels, "annotations": node.Annotations},
			"spec":     map[string]any{"taints": taints},
		},
		"status": {"status": map[string]any{
			"capacity": resources, "allocatable": resources,
			"nodeInfo": map[string]any{"kubeletVersion": node.Status.NodeInfo.KubeletVersion},
		}},
	} {
		data, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		var subresources []string
		if subresource != "" {
			subresources = []string{subresource}
		}
		if _, err := c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, data, metav1.PatchOptions{},
			subresources...); err != nil {
			return err
		}
	}
	return nil
}

// settingsOfGroup returns the labels and taints that a node has from its group. If an older program made the node, they
// are all labels, and all taints but those of the cluster.
func settingsOfGroup(node corev1.Node) groupSettings {
	var own groupSettings
	if json.Unmarshal([]byte(node.Annotations[groupAnnotation]), &own) == nil {
		return own
	}
	own.Labels = node.Labels
	for _, taint := range node.Spec.Taints {
		if !strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			own.Taints = append(own.Taints, taint)
		}
	}
	return own
}

func (c *nodesKeeper) dropNode(ctx context.Context, name string) error {
	if err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil &&
		!apierrors.IsNotFound(err) {
		return fmt.Errorf("delete node %s: %w", name, err)
	}
	return nil
}

// nodesReady waits until every named node is ready and schedulable. Nodes remain ready after the end of their
// simulation, which is an error.
func (c *nodesKeeper) nodesReady(ctx context.Context, names map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	process := c.process(nodesProcess)
	for {
		if hasEnded(process) {
			return process.Failure()
		}
		began := time.Now()
		list, err := c.client.CoreV1().Nodes().List(ctx,
			metav1.ListOptions{LabelSelector: clusters.NodeLabel, ResourceVersion: "0"})
		if err == nil {
			ready := 0
			for _, node := range list.Items {
				if names[node.Name] && nodeReady(node) {
					ready++
				}
			}
			if ready == len(names) {
				return nil
			}
			err = fmt.Errorf("%d of %d nodes are ready", ready, len(names))
		}
		select {
		case <-process.Done():
		case <-ctx.Done():
			return fmt.Errorf("wait for the nodes: %w: %w", context.Cause(ctx), err)
		case <-time.After(max(2*probeInterval, 4*time.Since(began))): // checks must not take most of the time
		}
	}
}

func nodeReady(node corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
