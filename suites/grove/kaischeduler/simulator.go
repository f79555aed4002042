// Package kaischeduler is a small scheduler that works like KAI: it binds the pods of a PodGroup when the required
// number of them exists and fits, and binds none of them otherwise.
package kaischeduler

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Name of the simulated system, and the schedulerName of its pods.
const Name = "kai-scheduler"

// fieldManager owns the installed objects.
const fieldManager = Name + "-simulator"

// Options are where the simulator runs and how it behaves.
type Options = operator.Options

// Run installs the PodGroup's definition and schedules until the context ends. It survives a restart of the API
// server.
func Run(ctx context.Context, o Options) error {
	if len(o.Faults) > 0 || o.Variant != "" {
		return fmt.Errorf("%s has neither faults nor variants", Name)
	}
	if _, err := operator.Authority(o.CertDir); err != nil {
		return err
	}
	o.RESTConfig = operator.Unthrottled(o.RESTConfig)
	return operator.Run(ctx, o.Logger, func(ctx context.Context) error { return once(ctx, o) })
}

func once(ctx context.Context, o Options) error {
	scheme, err := operator.Scheme(clientgoscheme.AddToScheme, kaiapi.AddToScheme)
	if err != nil {
		return err
	}
	crd, err := kaiapi.CustomResourceDefinition()
	if err != nil {
		return err
	}
	if err := operator.Install(ctx, o.RESTConfig, fieldManager, crd); err != nil {
		return err
	}
	anew := true // one program may run several managers, one after the other or at once
	m, err := manager.New(o.RESTConfig, manager.Options{
		Scheme: scheme, Logger: o.Logger, Controller: config.Controller{SkipNameValidation: &anew},
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		WebhookServer: operator.Server(o.Host, o.Port, o.CertDir),
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	if err := operator.ServeReadiness(ctx, m, &corev1.Pod{}, &corev1.Node{}, &kaiapi.PodGroup{}); err != nil {
		return err
	}
	// Every change triggers the same request, which schedules the whole cluster.
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: Name}}}
	})
	err = builder.ControllerManagedBy(m).Named(Name).
		Watches(&corev1.Pod{}, all).Watches(&corev1.Node{}, all).Watches(&kaiapi.PodGroup{}, all).
		Complete(&scheduler{client: m.GetClient(), live: m.GetAPIReader()})
	if err != nil {
		return fmt.Errorf("add the scheduler: %w", err)
	}
	return m.Start(ctx)
}
