// Package webhooks finds out which webhooks the API server calls, where it calls them, and how often they answered.
package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
)

// Client is a client for the webhooks of a cluster.
type Client struct {
	dynamic dynamic.Interface
	typed   kubernetes.Interface
}

// New returns a client.
func New(config *rest.Config) (*Client, error) {
	config = objects.Configured(config)
	all, err1 := dynamic.NewForConfig(config)
	typed, err2 := kubernetes.NewForConfig(config)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &Client{dynamic: all, typed: typed}, nil
}

// Hook is one webhook of a configuration.
type Hook struct {
	Configuration objects.Reference
	Name          string
	// Step is the admission step, named as in the metrics: admit or validating.
	Step string
	// Creates: the webhook is called when objects are created.
	Creates bool
	Client  admissionv1.WebhookClientConfig
	// Managers are the field managers that have written the configuration.
	Managers []string
}

// String is "webhook name (MutatingWebhookConfiguration configuration)".
func (h Hook) String() string { return fmt.Sprintf("webhook %s (%s)", h.Name, h.Configuration) }

// webhookKinds are the kinds of webhook configurations.
var webhookKinds = []schema.GroupKind{
	{Group: admissionv1.GroupName, Kind: "MutatingWebhookConfiguration"},
	{Group: admissionv1.GroupName, Kind: "ValidatingWebhookConfiguration"},
}

// IsConfiguration reports whether an object is a webhook configuration.
func IsConfiguration(object *unstructured.Unstructured) bool {
	return slices.Contains(webhookKinds, object.GroupVersionKind().GroupKind())
}

// All lists all webhooks of the cluster.
func (c *Client) All(ctx context.Context) ([]Hook, error) {
	client := c.typed.AdmissionregistrationV1()
	mutating, err1 := client.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	validating, err2 := client.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("list webhook configurations: %w", err)
	}
	var all []Hook
	add := func(kind int, step string, configuration metav1.ObjectMeta, name string,
		rules []admissionv1.RuleWithOperations, client admissionv1.WebhookClientConfig,
	) {
		r := objects.Reference{Kind: webhookKinds[kind], Version: "v1", Name: configuration.Name}
		managers := objects.Managers(configuration.ManagedFields)
		all = append(all, Hook{r, name, step, Creates(rules), client, managers})
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			add(0, "admit", c.ObjectMeta, w.Name, w.Rules, w.ClientConfig)
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			add(1, "validating", c.ObjectMeta, w.Name, w.Rules, w.ClientConfig)
		}
	}
	return all, nil
}

// Creates reports whether a webhook with these rules is called when objects are created.
func Creates(rules []admissionv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r admissionv1.RuleWithOperations) bool {
		return slices.Contains(r.Operations, admissionv1.Create) || slices.Contains(r.Operations, admissionv1.OperationAll)
	})
}

// At lists the webhooks whose URL is at the address of a process.
func (c *Client) At(ctx context.Context, url string) ([]Hook, error) {
	all, err := c.All(ctx)
	return slices.DeleteFunc(all, func(h Hook) bool {
		return h.Client.URL == nil || !isAt(*h.Client.URL, url)
	}), err
}

// Stale returns the configurations of webhooks at an address that contain another authority: they are from an earlier
// start of the process.
func (c *Client) Stale(ctx context.Context, url string, ca []byte) ([]objects.Reference, error) {
	hooks, err := c.At(ctx, url)
	var stale []objects.Reference
	for _, h := range hooks {
		if !bytes.Equal(bytes.TrimSpace(h.Client.CABundle), bytes.TrimSpace(ca)) {
			stale = objects.Add(stale, h.Configuration)
		}
	}
	return stale, err
}
