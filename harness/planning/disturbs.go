package planning

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// ofKubernetes reports whether Kubernetes itself may have made an object, so that an apply changes it.
func ofKubernetes(target scenarios.ObjectReference) bool {
	names := []string{
		"default", "admin", "edit", "view", "cluster-admin", "exempt", "catch-all", "global-default", "probes",
		"service-accounts", "endpoint-controller", "node-high", "system", "kubernetes", clusters.DefaultClass,
	}
	prefixes := []string{"kube-", "system-", "system:", "workload-", "leader-election"}
	return target.Kind == "Node" || strings.HasPrefix(target.Namespace, "kube-") || slices.Contains(names, target.Name) ||
		slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(target.Name, prefix) })
}

// identity is equal for references to one object.
func identity(r scenarios.ObjectReference) string {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	return strings.Join([]string{group, r.Kind, r.Namespace, r.Name}, "/")
}

// disturbs returns which shared object a scenario changes, "" if none. A shared object has no namespace or one that the
// scenario names, and was not created by the scenario: a Node, or what Kubernetes creates itself. It has a fixed name,
// is deleted by a selector, or is a Node whose name only a step finds out. A changed object stays changed, so other
// scenarios of the cluster would see it.
func disturbs(s *scenarios.Scenario) string {
	own := map[string]bool{}
	clusterWide := manifests.ClusterScoped()
	for _, step := range single(s.Spec.Steps) {
		accepted := !step.DryRun && (step.Expect == nil || step.Expect.Rejected == nil)
		target := step.Target()
		if made := step.Makes(); made != nil {
			target = made.Reference()
			if accepted && (step.Verb() != "apply" || !ofKubernetes(target)) {
				own[identity(target)] = true
			}
		}
		kind := schema.FromAPIVersionAndKind(target.APIVersion, target.Kind).GroupKind()
		shared := clusterWide[kind] || target.Namespace != ""
		writes := slices.Contains(scenarios.Writes(), step.Verb())
		switch {
		case !shared || !writes || !accepted:
		case step.Delete != nil && target.Name == "" && !strings.Contains(target.Namespace, "${"):
			return fmt.Sprintf("deletes each selected %s, which others may use", kind.Kind)
		case target.Name == "" || own[identity(target)]:
		case !strings.Contains(target.Name+target.Namespace, "${"):
			return fmt.Sprintf("changes %s/%s, which others use", kind.Kind, target.Name)
		case kind.Kind == "Node" && step.Makes() == nil && !strings.Contains(target.Name, "${scenario."):
			return "changes a Node, which others use"
		}
	}
	return ""
}
