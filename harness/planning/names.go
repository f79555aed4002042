package planning

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// checkNames finds objects that two scenarios of a track create under the same name outside of their own namespaces.
// They would interfere. It ignores kinds that a system brings: before the run it is unknown whether they have
// namespaces.
func (p *planner) checkNames(track *Track) {
	clusterWide := manifests.ClusterScoped()
	for _, entry := range track.Entries {
		for _, step := range entry.Scenario.Spec.Steps {
			if kind, scoped := definedKind(step.Makes()); scoped {
				clusterWide[kind] = true
			}
		}
	}
	first := map[outside]maker{}
	for _, entry := range track.Entries {
		for _, step := range single(entry.Scenario.Spec.Steps) {
			object, made := outsideOf(entry.Scenario, step, clusterWide)
			if !made {
				continue
			}
			before, taken := first[object]
			switch {
			case !taken:
				first[object] = maker{entry.Scenario, step.Position}
			case before.scenario != entry.Scenario:
				p.problem(step.Position, "%s: the scenario %s, which shares the cluster, creates it, too (%s); put "+
					"${scenario.id} into its %s, or set exclusive: true",
					object, before.scenario.Title(), before.position, object.where())
			}
		}
	}
}

// single returns the steps, with the steps of parallel in its place, and a request of each load.
func single(steps []scenarios.Step) []scenarios.Step {
	var all []scenarios.Step
	for _, step := range steps {
		for _, load := range step.During {
			request := load.Request(0)
			request.Position = step.Position
			all = append(all, request)
		}
		if step.Parallel == nil {
			all = append(all, step)
			continue
		}
		all = append(all, step.Parallel.Steps...)
	}
	return all
}

// everyCopy is a name with the copies of a step, or the requests of a load, as an asterisk: each scenario has the same
// numbers.
func everyCopy(name string) string { return indexExpression.ReplaceAllString(name, "*") }

// indexExpression matches ${index} and expressions that begin with it.
var indexExpression = regexp.MustCompile(`\$\{\s*index\b[^}]*\}`)

type maker struct {
	scenario *scenarios.Scenario
	position scenarios.Position
}

// outside is an object that is not in its scenario's own namespace.
type outside struct {
	kind            schema.GroupKind
	namespace, name string
}

func (o outside) String() string {
	if o.namespace == "" {
		return o.kind.Kind + "/" + o.name
	}
	return o.kind.Kind + "/" + o.name + " in namespace " + o.namespace
}

// where says which part of the object must differ.
func (o outside) where() string {
	if o.namespace == "" {
		return "name"
	}
	return "name or its namespace"
}

// outsideOf returns the object that a step creates outside of its scenario's namespace, if its name is the same in
// every scenario.
func outsideOf(s *scenarios.Scenario, step scenarios.Step,
	clusterWide map[schema.GroupKind]bool,
) (o outside, made bool) {
	if step.DryRun || step.Expect != nil && step.Expect.Rejected != nil {
		return o, false
	}
	object := step.Makes()
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	o.kind = schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
	o.name, _ = metadata["name"].(string)
	o.namespace, _ = metadata["namespace"].(string)
	own := strings.NewReplacer("${scenario.name}", s.Metadata.Name) // rows of one table share the name
	o.name, o.namespace = everyCopy(own.Replace(o.name)), everyCopy(own.Replace(o.namespace))
	if clusterWide[o.kind] {
		o.namespace = ""
	} else if o.namespace == "" {
		return o, false
	}
	return o, o.name != "" && !strings.Contains(o.name+o.namespace, "${")
}

// definedKind returns the kind that a CustomResourceDefinition defines, if this kind has no namespaces.
func definedKind(object scenarios.Object) (kind schema.GroupKind, scoped bool) {
	if object["kind"] != "CustomResourceDefinition" {
		return kind, false
	}
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind.Group, _ = spec["group"].(string)
	kind.Kind, _ = names["kind"].(string)
	return kind, spec["scope"] == "Cluster"
}
