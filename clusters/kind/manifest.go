package kind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Places of a static pod's manifest: where kubelet sees it, and where it does not.
const (
	manifestsFolder = "/etc/kubernetes/manifests"
	stoppedFolder   = "/etc/kubernetes/rehearse-stopped"
	// revisionAnnotation of a manifest changes when a file that the component reads at its start has changed.
	revisionAnnotation = "rehearse.dev/revision"
)

// staticPod is a component's manifest, of which only what is changed here is understood.
type staticPod struct {
	component clusters.Component
	tree      object
	spec      object
	container object
}

// parseStaticPod reads the manifest that kubeadm wrote, or that render wrote.
func parseStaticPod(component clusters.Component, manifest string) (*staticPod, error) {
	p := &staticPod{component: component}
	if err := yaml.Unmarshal([]byte(manifest), &p.tree); err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", component, err)
	}
	p.spec, _ = p.tree["spec"].(object)
	containers, _ := p.spec["containers"].([]any)
	if len(containers) > 0 {
		p.container, _ = containers[0].(object)
	}
	if p.container == nil {
		return nil, fmt.Errorf("read the manifest of %s: it has no container", component)
	}
	return p, nil
}

func (p *staticPod) render() (string, error) {
	data, err := yaml.Marshal(p.tree)
	if err != nil {
		return "", fmt.Errorf("write the manifest of %s: %w", p.component, err)
	}
	return string(data), nil
}

// image is the container's.
func (p *staticPod) image() string {
	image, _ := p.container["image"].(string)
	return image
}

// setVersion changes the tag of the image, and leaves the rest of its name.
func (p *staticPod) setVersion(version string) {
	repository := p.image()
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	p.container["image"] = repository + ":" + imageTag(version)
}

// imageTag is the tag that Kubernetes' images of a version have; a plus cannot be in one.
func imageTag(version string) string { return "v" + strings.ReplaceAll(version, "+", "_") }

// command line of the container.
func (p *staticPod) command() []string {
	list, _ := p.container["command"].([]any)
	command := make([]string, 0, len(list))
	for _, word := range list {
		text, _ := word.(string)
		command = append(command, text)
	}
	return command
}

// flag returns a flag's value; nil when it is not there.
func (p *staticPod) flag(name string) *string {
	for _, word := range slices.Backward(p.command()) { // the last one counts
		given, value, attached := strings.Cut(word, "=")
		if given != "--"+name {
			continue
		}
		if !attached {
			value = "true"
		}
		return &value
	}
	return nil
}

// setFlag sets a flag, in the place where it was; nil removes it.
func (p *staticPod) setFlag(name string, value *string) {
	var command []any
	done := value == nil
	for _, word := range p.command() {
		given, _, _ := strings.Cut(word, "=")
		if given != "--"+name {
			command = append(command, word)
			continue
		}
		if !done {
			command = append(command, "--"+name+"="+*value)
			done = true
		}
	}
	if !done {
		command = append(command, "--"+name+"="+*value)
	}
	p.container["command"] = command
}

func (p *staticPod) annotate(key, value string) {
	metadata, _ := p.tree["metadata"].(object)
	if metadata == nil {
		metadata = object{}
		p.tree["metadata"] = metadata
	}
	annotations, _ := metadata["annotations"].(object)
	if annotations == nil {
		annotations = object{}
		metadata["annotations"] = annotations
	}
	annotations[key] = value
}

// desiredManifest edits a component's manifest to a state, and tells in ours which flags were set and what they replaced. Flags of earlier
// states that the state no longer has go back to what they were. It returns the text of before and after, both in the same form.
func desiredManifest(component clusters.Component, current string, state clusters.State, ours map[string]*string, revision string) (before, after string, err error) {
	p, err := parseStaticPod(component, current)
	if err != nil {
		return "", "", err
	}
	if before, err = p.render(); err != nil {
		return "", "", err
	}
	p.setVersion(state.Version)
	wanted := stateFlags(state, component)
	for _, name := range clusters.SortedKeys(ours) {
		if _, still := wanted[name]; !still {
			p.setFlag(name, ours[name])
		}
	}
	for _, name := range clusters.SortedKeys(wanted) {
		value := wanted[name]
		if _, known := ours[name]; !known {
			ours[name] = p.flag(name)
		}
		p.setFlag(name, &value)
	}
	if revision != "" {
		p.annotate(revisionAnnotation, revision)
	}
	after, err = p.render()
	return before, after, err
}

// stateFlags are all flags of a control plane component that a state says something of.
func stateFlags(state clusters.State, c clusters.Component) map[string]string {
	flags := map[string]string{}
	for name, value := range state.Components[c].Flags {
		flags[name] = value
	}
	if gates := state.Gates(c); len(gates) > 0 && c != clusters.Kubelet {
		flags["feature-gates"] = pairs(gates)
	}
	if c == clusters.APIServer && len(state.RuntimeConfig) > 0 {
		flags["runtime-config"] = pairs(state.RuntimeConfig)
	}
	return flags
}

// replacedAtCreation is what kubeadm, kind and we ourselves would have written for flags that a state sets from the start, so that they can go back to it.
func replacedAtCreation(component clusters.Component, state clusters.State) map[string]*string {
	usual := map[string]string{}
	if elected(component) {
		usual["leader-elect"] = "true"
	}
	maps.Copy(usual, flagsOf(clusters.State{ControlPlanes: state.ControlPlanes}, component))
	switch component {
	case clusters.APIServer:
		usual["runtime-config"] = "" // kind's
		usual["allow-privileged"] = "true"
		usual["authorization-mode"] = "Node,RBAC"
		usual["enable-admission-plugins"] = "NodeRestriction"
		usual["enable-bootstrap-token-auth"] = "true"
		usual["secure-port"] = "6443"
		usual["service-cluster-ip-range"] = "10.96.0.0/16"
		usual["service-account-issuer"] = "https://kubernetes.default.svc.cluster.local"
	case clusters.ControllerManager:
		usual["allocate-node-cidrs"] = "true"
		usual["bind-address"] = "127.0.0.1"
		usual["cluster-cidr"] = "10.244.0.0/16"
		usual["controllers"] = "*,bootstrapsigner,tokencleaner"
		usual["enable-hostpath-provisioner"] = "true"
		usual["service-cluster-ip-range"] = "10.96.0.0/16"
		usual["use-service-account-credentials"] = "true"
	case clusters.Scheduler:
		usual["bind-address"] = "127.0.0.1"
	}
	ours := map[string]*string{}
	for name := range stateFlags(state, component) {
		ours[name] = nil
		if value, known := usual[name]; known {
			ours[name] = &value
		}
	}
	return ours
}
