// Package staticpods edits the manifests of static pods.
package staticpods

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
)

// Folders of a static pod's manifest: kubelet reads the first, and not the second.
const (
	ManifestsFolder = "/etc/kubernetes/manifests"
	StoppedFolder   = "/etc/kubernetes/rehearse-stopped"
	// RevisionAnnotation of a manifest changes when a file that the component reads at its start has changed.
	RevisionAnnotation = "rehearse.dev/revision"
)

// Pod is a component's manifest. It interprets only the parts that are changed here.
type Pod struct {
	component clusters.Component
	tree      settings.Object
	spec      settings.Object
	container settings.Object
}

// Parse reads a manifest that kubeadm or Render wrote.
func Parse(component clusters.Component, manifest string) (*Pod, error) {
	p := &Pod{component: component}
	if err := yaml.Unmarshal([]byte(manifest), &p.tree); err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", component, err)
	}
	p.spec, _ = p.tree["spec"].(settings.Object)
	containers, _ := p.spec["containers"].([]any)
	if len(containers) > 0 {
		p.container, _ = containers[0].(settings.Object)
	}
	if p.container == nil {
		return nil, fmt.Errorf("read the manifest of %s: it has no container", component)
	}
	return p, nil
}

func (p *Pod) Render() (string, error) {
	data, err := yaml.Marshal(p.tree)
	if err != nil {
		return "", fmt.Errorf("write the manifest of %s: %w", p.component, err)
	}
	return string(data), nil
}

// Image returns the container's image.
func (p *Pod) Image() string {
	image, _ := p.container["image"].(string)
	return image
}

// setVersion changes the tag of the image, and keeps the rest of its name.
func (p *Pod) setVersion(version string) {
	repository := p.Image()
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	p.container["image"] = repository + ":" + settings.ImageTag(version)
}

// Command returns the container's command line.
func (p *Pod) Command() []string {
	list, _ := p.container["command"].([]any)
	command := make([]string, 0, len(list))
	for _, word := range list {
		text, _ := word.(string)
		command = append(command, text)
	}
	return command
}

// flag returns a flag's value; nil if the flag is not set.
func (p *Pod) flag(name string) *string {
	for _, word := range slices.Backward(p.Command()) { // the last one takes effect
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

// setFlag sets a flag, and keeps its position if it is already set; nil removes it.
func (p *Pod) setFlag(name string, value *string) {
	var command []any
	done := value == nil
	for _, word := range p.Command() {
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

func (p *Pod) Annotate(key, value string) {
	metadata, _ := p.tree["metadata"].(settings.Object)
	if metadata == nil {
		metadata = settings.Object{}
		p.tree["metadata"] = metadata
	}
	annotations, _ := metadata["annotations"].(settings.Object)
	if annotations == nil {
		annotations = settings.Object{}
		metadata["annotations"] = annotations
	}
	annotations[key] = value
}

// gatesFlag sets the feature gates of a component. Neither kind nor kubeadm sets it on its own.
const gatesFlag = "feature-gates"

// CheckGates returns an error if the manifest sets other feature gates than those of the state. Metrics cannot show
// that, because they do not tell a gate that is set from one that is on by default.
func (p *Pod) CheckGates(state clusters.State) error {
	want, wanted := settings.StateFlags(state, p.component)[gatesFlag]
	got := p.flag(gatesFlag)
	switch {
	case got != nil && !wanted:
		return fmt.Errorf("%s has the feature gates %s, which the cluster should not have", p.component, *got)
	case wanted && (got == nil || *got != want):
		return fmt.Errorf("%s does not have exactly the feature gates %s", p.component, want)
	}
	return nil
}

// NoteReplaced adds to ours the flags that a state sets and that are not in it yet, with the values that the manifest
// has. It must be called before something else than Desired sets them.
func NoteReplaced(component clusters.Component, current string, state clusters.State, ours map[string]*string) error {
	p, err := Parse(component, current)
	if err != nil {
		return err
	}
	p.noteReplaced(settings.StateFlags(state, component), ours)
	return nil
}

func (p *Pod) noteReplaced(wanted map[string]string, ours map[string]*string) {
	for name := range wanted {
		if _, known := ours[name]; !known {
			ours[name] = p.flag(name)
		}
	}
}

// Desired edits a component's manifest to match a state, and adds to ours the flags that it sets, with their earlier
// values. Flags of earlier states that the state does not have get their earlier values again. It returns the
// manifest before and after, both in the same format.
func Desired(component clusters.Component, current string, state clusters.State, ours map[string]*string,
	revision string,
) (before, after string, err error) {
	p, err := Parse(component, current)
	if err != nil {
		return "", "", err
	}
	if before, err = p.Render(); err != nil {
		return "", "", err
	}
	p.setVersion(state.Version)
	wanted := settings.StateFlags(state, component)
	for _, name := range clusters.SortedKeys(ours) {
		if _, still := wanted[name]; !still {
			p.setFlag(name, ours[name])
		}
	}
	p.noteReplaced(wanted, ours)
	for _, name := range clusters.SortedKeys(wanted) {
		value := wanted[name]
		p.setFlag(name, &value)
	}
	if revision != "" {
		p.Annotate(RevisionAnnotation, revision)
	}
	after, err = p.Render()
	return before, after, err
}
