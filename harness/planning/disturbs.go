package planning

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
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

// disturbs returns which shared object a scenario changes, "" if none. A shared object has a fixed name, has no
// namespace or one that the scenario names, and was not created by the scenario: a Node, or what Kubernetes creates
// itself. A changed object stays changed, so other scenarios of the cluster would see it.
func disturbs(s *scenarios.Scenario) string {
	own := map[string]bool{}
	clusterWide := clusterScoped()
	for _, step := range single(s.Spec.Steps) {
		accepted := !step.DryRun && (step.Expect == nil || step.Expect.Rejected == nil)
		target := step.Target()
		if made := step.Makes(); made != nil {
			target = made.Reference()
			if accepted && (step.Verb() != "apply" || !ofKubernetes(target)) {
				own[target.Kind+"/"+target.Name] = true
			}
		}
		kind := schema.FromAPIVersionAndKind(target.APIVersion, target.Kind).GroupKind()
		shared := clusterWide[kind] || target.Namespace != ""
		fixed := target.Name != "" && !strings.Contains(target.Name+target.Namespace, "${")
		writes := slices.Contains(scenarios.Writes(), step.Verb())
		if shared && fixed && writes && accepted && !own[kind.Kind+"/"+target.Name] {
			return fmt.Sprintf("changes %s/%s, which others use", kind.Kind, target.Name)
		}
	}
	return ""
}
