package explore

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// named is the object with a name, as a scenario creates it. The scenario's namespace is the default.
func (o *entry) named(number int) map[string]any {
	object, _ := growth.Named(o.Kind, o.Object(), number)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "namespace")
	}
	return object
}

func yamlOf(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func indented(text string, by int) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+pad) + "\n"
}

// write is the YAML of a scenario that fails as long as Kubernetes shows the finding.
func (g *group) write(settle time.Duration) string {
	object := g.smallest.named(g.number)
	metadata, _ := object["metadata"].(map[string]any)
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: rehearse.dev/v1alpha1\nkind: Scenario\nmetadata:\n  name: %s\n  "+
		"labels: {system: explore}\n",
		g.name())
	fmt.Fprintf(&b, "spec:\n  description: %q\n", fmt.Sprintf("%s: %s (%s). It fails as long as this happens.",
		g.smallest.Kind.Kind, g.finding.What, hop(g)))
	if g.definition != nil { // which another finding of the exploration may define, too
		b.WriteString("  exclusive: true\n")
	}
	fmt.Fprintf(&b, "  cluster:\n%s", indented(yamlOf(g.path[0]), 4))
	b.WriteString("  steps:\n")
	if g.definition != nil {
		fmt.Fprintf(&b, "  - name: define its kind\n    create:\n%s", indented(yamlOf(expressions.Literal(g.definition)), 6))
	}
	status := object["status"]
	delete(object, "status")
	fmt.Fprintf(&b, "  - name: create it\n    create:\n%s", indented(yamlOf(expressions.Literal(object)), 6))
	selected := fmt.Sprintf("      apiVersion: %s\n      kind: %s\n      name: %s\n", g.smallest.Kind.GroupVersion(),
		g.smallest.Kind.Kind, metadata["name"])
	if status != nil && g.smallest.HasState() {
		fmt.Fprintf(&b, "  - name: set its status\n    patch:\n%s      subresource: status\n      merge:\n%s", selected,
			indented(yamlOf(expressions.Literal(map[string]any{"status": status})), 8))
	}
	if len(g.path) == 1 {
		fmt.Fprintf(&b, "  - name: it survives\n    survives:\n%s      now: true\n%s%s",
			selected, g.watched(settle), g.except())
		return b.String()
	}
	first := ""
	times := map[string]int{}
	unique := func(name string) string { // as the names of steps must be
		if times[name]++; times[name] > 1 {
			name += fmt.Sprintf(" (%d)", times[name])
		}
		return name
	}
	for i, state := range g.path[1:] {
		name := unique("to " + nameOf(state))
		if i == 0 {
			first = name
		}
		if g.smallest.written {
			fmt.Fprintf(&b, "  - name: %s\n    patch:\n%s      merge: {metadata: {labels: {rehearse.dev/none: null}}}\n",
				quote(unique("write it unchanged at "+nameOf(g.path[i]))), selected)
		}
		fmt.Fprintf(&b, "  - name: %s\n    transition:\n%s", quote(name), indented(yamlOf(transition(g.path[i], state)), 6))
	}
	fmt.Fprintf(&b, "  - name: it survives\n    survives:\n%s      throughout: [%s, it survives]\n%s%s", selected,
		quote(first), g.watched(settle), g.except())
	return b.String()
}

// watched is the line that says how long to watch, for checks that find what happens late. The exploration watched for
// the time settle, and while it sent its dry runs.
func (g *group) watched(settle time.Duration) string {
	if !slices.Contains(g.checks, string(survey.Moved)) && !slices.Contains(g.checks, string(survey.Condition)) {
		return ""
	}
	return fmt.Sprintf("      settle: %s\n", max(2*settle, 5*time.Second))
}

func (g *group) name() string { return "explore-" + strings.ReplaceAll(g.id(), " ", "-") }

func quote(text string) string { return fmt.Sprintf("%q", text) }

func hop(g *group) string {
	var names []string
	for _, state := range g.path {
		names = append(names, nameOf(state))
	}
	return strings.Join(names, " -> ")
}

// except is the line that excludes the other checks.
func (g *group) except() string {
	var others []string
	for _, check := range scenarios.SurvivalChecks() {
		if !slices.Contains(g.checks, check) {
			others = append(others, check)
		}
	}
	return fmt.Sprintf("      except: [%s]\n", strings.Join(others, ", "))
}

// transition is the step from a state to the next one.
func transition(before, after clusters.State) scenarios.Transition {
	t := scenarios.Transition{Change: clusters.Change{
		FeatureGates:  difference(before.FeatureGates, after.FeatureGates),
		RuntimeConfig: difference(before.RuntimeConfig, after.RuntimeConfig),
		Components:    map[clusters.Component]*clusters.ComponentChange{},
	}}
	for _, system := range after.Systems {
		if was, _ := before.System(system.Name); !reflect.DeepEqual(was, system) {
			t.Systems = append(t.Systems, clusters.SystemChange{System: system})
		}
	}
	if before.Version != after.Version {
		t.Version, t.Force = after.Version, !allowed(before, after)
	}
	for _, component := range clusters.ControlPlane() {
		gates := difference(before.Components[component].FeatureGates, after.Components[component].FeatureGates)
		if len(gates) > 0 {
			t.Components[component] = &clusters.ComponentChange{FeatureGates: gates}
		}
	}
	return t
}

// difference has the entries that change one map into another: nil for removed ones.
func difference[V comparable](before, after map[string]V) map[string]*V {
	all := map[string]*V{}
	for key := range before {
		if _, kept := after[key]; !kept {
			all[key] = nil
		}
	}
	for key, value := range after {
		if was, had := before[key]; !had || was != value {
			all[key] = &value
		}
	}
	return all
}

// broken reports whether the finding is about the control plane. There is no scenario for it.
func (g *group) broken() bool { return g.finding.Check == "control plane" }

// birth reports whether the finding needs no transition.
func (g *group) birth() bool { return g.finding.Severity == upgrades.Before }
