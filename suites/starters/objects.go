package starters

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// object is an object that the scenario creates.
type object struct {
	APIVersion, Kind, Name string
	content                map[string]any
}

// Title is its name in the names of steps.
func (o object) Title() string { return o.Kind + " " + o.Name }

// YAML of the object, indented, in the order in which people write it.
func (o object) YAML(indent int) (string, error) {
	keys := clusters.SortedKeys(o.content)
	order := []string{"apiVersion", "kind", "metadata"}
	slices.SortStableFunc(keys, func(a, b string) int {
		i, j := slices.Index(order, a), slices.Index(order, b)
		if i < 0 {
			i = len(order)
		}
		if j < 0 {
			j = len(order)
		}
		return i - j
	})
	var parts []string
	for _, key := range keys {
		text, err := indented(map[string]any{key: o.content[key]}, indent)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// indented returns a value in YAML, with ${ escaped.
func indented(value any, indent int) (string, error) {
	data, err := yaml.Marshal(expressions.Literal(value))
	if err != nil {
		return "", fmt.Errorf("write an object in YAML: %w", err)
	}
	blank := strings.Repeat(" ", indent)
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = blank + line
		}
	}
	return strings.Join(lines, "\n"), nil
}

// objectsOf converts objects of files to those that a scenario creates: in its own namespace, in an order that works,
// and without the fields that the API server adds.
func objectsOf(given []*manifests.Object) ([]object, error) {
	var namespaces []string
	for _, o := range given {
		if n := o.Content.GetNamespace(); n != "" && !slices.Contains(namespaces, n) {
			namespaces = append(namespaces, n)
		}
	}
	if len(namespaces) > 1 {
		return nil, fmt.Errorf("the objects are in several namespaces (%s), and a scenario has one of its own; name the "+
			"objects of one, or use rehearse upgrade, which takes them as they are", strings.Join(namespaces, ", "))
	}
	var all []object
	for _, o := range manifests.InOrder(given) {
		content := o.Content.DeepCopy()
		if content.GetKind() == "Namespace" && slices.Contains(namespaces, content.GetName()) {
			continue // the scenario's own namespace replaces it
		}
		content.SetNamespace("")
		for _, field := range []string{
			"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields",
			"selfLink",
		} {
			delete(content.Object["metadata"].(map[string]any), field) //nolint:forcetypeassert // it has a name
		}
		delete(content.Object, "status")
		all = append(all, object{content.GetAPIVersion(), content.GetKind(), content.GetName(), content.Object})
	}
	return all, nil
}

// workload reports whether rolledOut can wait for the object.
func (o object) workload() bool {
	return strings.HasPrefix(o.APIVersion, "apps/") && o.Kind != "ControllerRevision"
}

// plain matches texts that need no quotes in YAML, unless they have their own meaning there, such as true.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ./-]*$`)

// quote returns a text as a YAML string that is also valid in a flow mapping.
func quote(text string) (string, error) {
	data, err := yaml.Marshal(text)
	if err == nil && plain.MatchString(text) && string(data) == text+"\n" {
		return text, nil
	}
	data, err = json.Marshal(text)
	return string(data), err
}
