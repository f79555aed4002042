package systems

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
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
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			all = append(all,
				hook{
					reference{kind: webhookKinds[0], version: "v1", name: c.Name},
					w.Name, "admit", creates(w.Rules),
					w.ClientConfig,
				})
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			all = append(all,
				hook{
					reference{kind: webhookKinds[1], version: "v1", name: c.Name},
					w.Name, "validating", creates(w.Rules),
					w.ClientConfig,
				})
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

// installer installs the objects of systems in a cluster, and proves that they have taken effect.
type installer struct {
	cluster clusters.Cluster
	api     *api
	// borrowed: objects of another installation are not overwritten.
	borrowed bool
	// together reports whether two systems, by their names, are replicas of one service, which share their objects.
	together func(one, other string) bool
}

// install applies the objects of a system that runs as a process. Its conversion webhooks and webhook configurations
// then point to the process. install deletes objects that the system no longer has, except CRDs.
func (s *installer) install(ctx context.Context, sys *system, ca []byte) error {
	crds, err := readKinds(sys.program.crds,
		func(o *unstructured.Unstructured) bool { return o.GroupVersionKind().GroupKind() == crdKind })
	if err != nil {
		return err
	}
	webhooks, err := readKinds(sys.program.webhooks, isWebhook)
	if err != nil {
		return err
	}
	url := sys.place.calledAt()
	var wanted []reference
	for _, crd := range crds {
		redirectConversion(crd, url, ca)
		wanted = append(wanted, reference{kind: crdKind, version: crd.GroupVersionKind().Version, name: crd.GetName()})
	}
	objects, err := s.applyObjects(ctx, sys, foundations(sys.program.objects), nil)
	if err != nil {
		return err
	}
	for _, configuration := range webhooks {
		redirectWebhooks(configuration, url, ca)
		wanted = append(wanted,
			reference{
				kind: configuration.GroupVersionKind().GroupKind(), version: configuration.GroupVersionKind().Version,
				name: configuration.GetName(),
			})
		if err := s.notTaken(ctx, sys.definition.Name, configuration); err != nil {
			return err
		}
	}
	if err := s.applyAll(ctx, sys, crds); err != nil {
		return err
	}
	if objects, err = s.applyObjects(ctx, sys, others(sys.program.objects), objects); err != nil {
		return err
	}
	if err := s.applyAll(ctx, sys, webhooks); err != nil {
		return err
	}
	if err := s.prune(ctx, sys, append(wanted, objects...)); err != nil {
		return err
	}
	sys.calledAt = url
	return s.trustKept(ctx, sys, ca)
}

// applyAll applies objects, and records those that did not exist before. After each CRD it waits until the CRD is
// served, because later objects may need it.
func (s *installer) applyAll(ctx context.Context, sys *system, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := s.free(ctx, sys.definition.Name, object); err != nil {
			return err
		}
		made, r, err := s.api.apply(ctx, sys.definition.Name, object)
		if err != nil {
			return err
		}
		if made {
			sys.objects = addReference(sys.objects, r)
		}
		if r.kind != crdKind {
			continue
		}
		if err := await(ctx, nil, func(ctx context.Context) error { return s.api.crdServed(ctx, r.name) }); err != nil {
			return fmt.Errorf("wait until %s is served: %w", r, err)
		}
	}
	return nil
}

// free is notTaken for the objects of a borrowed cluster. Namespaces may exist.
func (s *installer) free(ctx context.Context, system string, object *unstructured.Unstructured) error {
	if !s.borrowed || object.GetAPIVersion() == "v1" && object.GetKind() == "Namespace" {
		return nil
	}
	return s.notTaken(ctx, system, object)
}

// notTaken returns an error if the cluster already has the object, but from another installation.
func (s *installer) notTaken(ctx context.Context, system string, object *unstructured.Unstructured) error {
	_, mapping, r, err := s.api.resource(object)
	if err != nil {
		return err
	}
	there, err := s.api.metadata.Resource(mapping.Resource).Namespace(r.namespace).Get(ctx, r.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for %s: %w", r, err)
	}
	if owner := there.Labels[label]; owner != system && !s.together(owner, system) {
		return fmt.Errorf("the cluster has a %s already, which was not installed by rehearse for system %s; remove the "+
			"other installation first", r, system)
	}
	return nil
}

// redirectWebhooks makes the webhooks of a configuration that name a Service point to a process instead.
func redirectWebhooks(configuration *unstructured.Unstructured, url string, ca []byte) {
	for _, client := range clientsOf(configuration) {
		redirect(client, url, ca)
	}
}
