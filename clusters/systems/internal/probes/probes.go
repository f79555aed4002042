// Package probes finds webhooks that no probe of a system reaches, and suggests probes for them.
package probes

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// declared is a webhook that a manifest declares.
type declared struct {
	webhooks.Hook
	labels map[string]string
	rules  []admissionv1.RuleWithOperations
}

// Check returns an error if a system has webhooks that are called on creation, but no probes: then nothing could
// prove that the webhooks answer. The error suggests probes. manifests are those objects of the system's manifests that
// can be read before the cluster exists.
func Check(definition clusters.System, manifests []*unstructured.Unstructured) error {
	if len(definition.Probes) > 0 {
		return nil
	}
	var names, probes []string
	for _, w := range declaredHooks(manifests) {
		// Of the webhooks of a process, only those that name a Service are redirected to it.
		if !w.Creates || definition.Launched() != nil && w.Client.Service == nil {
			continue
		}
		names = append(names, w.String())
		if probe := w.probe(manifests); !slices.Contains(probes, probe) {
			probes = append(probes, probe)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("it has no probes, but %s must answer a creation before a step runs; add objects for "+
		"which the API server calls it "+
		"(they are created as a dry run, and a rejection is an answer, too), such as:\n    probes:\n%s", strings.Join(names,
		", "), strings.Join(probes, ""))
}

// declaredHooks returns the webhooks that manifests declare. It leaves out invalid configurations, which the API server
// rejects later.
func declaredHooks(manifests []*unstructured.Unstructured) []declared {
	var all []declared
	for _, object := range manifests {
		var configuration admissionv1.ValidatingWebhookConfiguration // a mutating one has these fields, too
		if !webhooks.IsConfiguration(object) ||
			runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &configuration) != nil {
			continue
		}
		for _, w := range configuration.Webhooks {
			d := declared{rules: w.Rules, Hook: webhooks.Hook{
				Configuration: objects.Reference{Kind: object.GroupVersionKind().GroupKind(), Name: object.GetName()},
				Name:          w.Name, Creates: webhooks.Creates(w.Rules), Client: w.ClientConfig,
			}}
			if w.ObjectSelector != nil {
				d.labels = w.ObjectSelector.MatchLabels
			}
			all = append(all, d)
		}
	}
	return all
}

// probe returns an object that matches the first rule of the webhook for creations. It is formatted as an item of a
// YAML list.
func (w declared) probe(manifests []*unstructured.Unstructured) string {
	i := slices.IndexFunc(w.rules,
		func(r admissionv1.RuleWithOperations) bool {
			return webhooks.Creates([]admissionv1.RuleWithOperations{r})
		})
	object := sampleOf(w.rules[i].Rule, manifests)
	if len(w.labels) > 0 {
		object["metadata"] = map[string]any{"labels": w.labels}
	}
	text, err := yaml.Marshal([]any{object})
	if err != nil {
		return "" // cannot happen: it was read as YAML
	}
	lines := strings.SplitAfter(strings.TrimRight(string(text), "\n"), "\n")
	return "    " + strings.Join(lines, "    ") + "\n"
}
