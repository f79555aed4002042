// Package policy is a small policy engine that runs as a simulated system. It rejects every cluster-scoped object of an
// unknown kind. Like real policy engines, it knows only the kinds of the API server that it happens to query.
package policy

import (
	"context"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

const (
	// Name of the simulated system.
	Name = "policy"
	path = "/validate"
	// patience is the timeout of the webhook in the API server, in seconds.
	patience = 5
)

// Simulator returns the policy engine as a simulated system.
func Simulator() simulators.Simulator {
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "policy-probe"},
	}}
	return simulators.Simulator{Run: run, Probes: []*unstructured.Unstructured{probe}}
}

// run serves the webhook until the context ends. It registers the webhook as soon as it is served.
func run(ctx context.Context, o operator.Options) error {
	authority, err := operator.Authority(o.CertDir)
	if err != nil {
		return err
	}
	known, err := discovery.NewDiscoveryClientForConfig(operator.Unthrottled(o.RESTConfig))
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	return operator.Run(ctx, o.Logger, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		server := operator.Server(o.Host, o.Port, o.CertDir)
		server.Register(path, &webhook.Admission{Handler: judge{known}})
		server.Register(operator.PathReady, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, "ok")
		}))
		served := make(chan error, 1)
		go func() { served <- server.Start(ctx) }()
		if err := listening(ctx, server); err != nil {
			return err
		}
		if err := operator.Install(ctx, o.RESTConfig, Name, registration(o, authority)); err != nil {
			return err
		}
		return <-served
	})
}

// listening waits until the server answers.
func listening(ctx context.Context, server webhook.Server) error {
	started := server.StartedChecker()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for started(nil) != nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil
}

// registration makes the API server call the webhook when a cluster-scoped object is created or updated. If the webhook
// does not answer, the API server rejects the object.
func registration(o operator.Options, authority []byte) *admissionv1.ValidatingWebhookConfiguration {
	all := schema.GroupVersionResource{Group: "*", Version: "*", Resource: "*"}
	rules := operator.Rules(all, admissionv1.Create, admissionv1.Update)
	cluster, seconds := admissionv1.ClusterScope, int32(patience)
	rules[0].Scope = &cluster
	made := o.Validating(authority, Name, operator.Webhook{Name: "known.policy.rehearse.dev", Path: path, Rules: rules})
	made.Webhooks[0].TimeoutSeconds = &seconds
	return made
}

// judge asks an API server for the kinds that it serves.
type judge struct {
	discovery.ServerResourcesInterface
}

// Handle rejects an object whose kind the API server does not serve.
func (j judge) Handle(_ context.Context, request admission.Request) admission.Response {
	kind := metav1.GroupVersion{Group: request.Kind.Group, Version: request.Kind.Version}.String()
	list, err := j.ServerResourcesForGroupVersion(kind)
	if err != nil && !apierrors.IsNotFound(err) {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if err == nil {
		for _, resource := range list.APIResources {
			if resource.Kind == request.Kind.Kind {
				return admission.Allowed("")
			}
		}
	}
	return admission.Denied(fmt.Sprintf("the policy does not know the kind %s of %s", request.Kind.Kind, kind))
}
