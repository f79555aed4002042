package systems

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// hook is one webhook of a configuration.
type hook struct {
	configuration reference
	name          string
	// step is the admission step, named as in the metrics: admit or validating.
	step string
	// creates: the webhook is called when objects are created.
	creates bool
	client  admissionv1.WebhookClientConfig
}

// String is "webhook name (MutatingWebhookConfiguration configuration)".
func (h hook) String() string { return fmt.Sprintf("webhook %s (%s)", h.name, h.configuration) }

var webhookKinds = []schema.GroupKind{
	{Group: admissionv1.GroupName, Kind: "MutatingWebhookConfiguration"},
	{Group: admissionv1.GroupName, Kind: "ValidatingWebhookConfiguration"},
}

func isWebhook(object *unstructured.Unstructured) bool {
	return slices.Contains(webhookKinds, object.GroupVersionKind().GroupKind())
}

// hooks lists all webhooks of the cluster.
func (a *api) hooks(ctx context.Context) ([]hook, error) {
	client := a.typed.AdmissionregistrationV1()
	mutating, err1 := client.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	validating, err2 := client.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("list webhook configurations: %w", err)
	}
	var all []hook
	add := func(kind int, step, configuration, name string, rules []admissionv1.RuleWithOperations,
		client admissionv1.WebhookClientConfig,
	) {
		r := reference{kind: webhookKinds[kind], version: "v1", name: configuration}
		all = append(all, hook{r, name, step, creates(rules), client})
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			add(0, "admit", c.Name, w.Name, w.Rules, w.ClientConfig)
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			add(1, "validating", c.Name, w.Name, w.Rules, w.ClientConfig)
		}
	}
	return all, nil
}

func creates(rules []admissionv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r admissionv1.RuleWithOperations) bool {
		return slices.Contains(r.Operations, admissionv1.Create) || slices.Contains(r.Operations, admissionv1.OperationAll)
	})
}

// hooksAt lists the webhooks whose URL is at the address of a process.
func (a *api) hooksAt(ctx context.Context, url string) ([]hook, error) {
	all, err := a.hooks(ctx)
	return slices.DeleteFunc(all, func(h hook) bool {
		return h.client.URL == nil || *h.client.URL != url && !strings.HasPrefix(*h.client.URL, url+"/")
	}), err
}

// deleteStale deletes the configurations of webhooks at an address if they contain another authority: they are from an
// earlier start of the process.
func (a *api) deleteStale(ctx context.Context, url string, ca []byte) error {
	hooks, err := a.hooksAt(ctx, url)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		if bytes.Equal(bytes.TrimSpace(h.client.CABundle), bytes.TrimSpace(ca)) {
			continue
		}
		if err := a.delete(ctx, h.configuration); err != nil {
			return err
		}
	}
	return nil
}

// redirectWebhooks makes the webhooks of a configuration that name a Service point to a process instead.
func redirectWebhooks(configuration *unstructured.Unstructured, url string, ca []byte) {
	for _, client := range clientsOf(configuration) {
		redirect(client, url, ca)
	}
}
