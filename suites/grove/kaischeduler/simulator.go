// Package kaischeduler is a small scheduler in the manner of KAI: it binds the pods of a PodGroup when as many as are wanted together are there and
// have room, and none of them otherwise.
package kaischeduler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// Name of the system that this simulates, which is also the schedulerName of its pods.
const Name = "kai-scheduler"

// fieldManager owns what is installed.
const fieldManager = Name + "-simulator"

// Options say where the simulator runs.
type Options struct {
	// RESTConfig of the API server.
	RESTConfig *rest.Config
	// Host and Port on which /readyz is served, with TLS.
	Host string
	Port int
	// CertDir holds tls.crt and tls.key, the serving certificate for Host.
	CertDir string
	// Faults and Variant are of other simulators: this one has none.
	Faults  []string
	Variant string
	// Logger gets what the scheduler has to say.
	Logger logr.Logger
}

// Run installs the PodGroup's definition and schedules until the context ends. It outlives an API server that goes away.
func Run(ctx context.Context, o Options) error {
	if len(o.Faults) > 0 || o.Variant != "" {
		return fmt.Errorf("%s has neither faults nor variants", Name)
	}
	for _, name := range []string{"tls.crt", "tls.key"} {
		if _, err := os.Stat(filepath.Join(o.CertDir, name)); err != nil {
			return fmt.Errorf("find the serving certificate: %w", err)
		}
	}
	log.SetLogger(o.Logger) // some parts of controller-runtime know no other way
	o.RESTConfig = rest.CopyConfig(o.RESTConfig)
	o.RESTConfig.QPS = -1 // the API server's own fairness is limit enough
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond), backoff.WithMaxInterval(2*time.Second), backoff.WithMaxElapsedTime(0))
	return backoff.Retry(func() error {
		err := once(ctx, o)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			return errors.New("the manager ended without a reason")
		case errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EADDRNOTAVAIL):
			return backoff.Permanent(fmt.Errorf("serve: %w; choose another host or port", err))
		}
		o.Logger.Error(err, "starting again")
		return err
	}, backoff.WithContext(pause, context.WithoutCancel(ctx)))
}

func once(ctx context.Context, o Options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, kaiapi.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if err := install(ctx, o, scheme); err != nil {
		return err
	}
	anew := true // one program may run several managers, one after the other or at once
	m, err := manager.New(o.RESTConfig, manager.Options{
		Scheme: scheme, Logger: o.Logger, Controller: config.Controller{SkipNameValidation: &anew},
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		WebhookServer: webhook.NewServer(webhook.Options{Host: o.Host, Port: o.Port, CertDir: o.CertDir}),
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	if err := serveReadiness(ctx, m); err != nil {
		return err
	}
	// Whatever changes, the whole cluster is looked at: one request for all.
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

func serveReadiness(ctx context.Context, m manager.Manager) error {
	for _, object := range []client.Object{&corev1.Pod{}, &corev1.Node{}, &kaiapi.PodGroup{}} {
		if _, err := m.GetCache().GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
	}
	var ready atomic.Bool
	m.GetWebhookServer().Register("/readyz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(w, "the caches are being filled", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}))
	// A manager starts what is added like this after the caches are filled.
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		ready.Store(true)
		<-ctx.Done()
		return nil
	}))
}

// install applies the PodGroup's definition and waits until it is served.
func install(ctx context.Context, o Options, scheme *runtime.Scheme) error {
	c, err := client.New(o.RESTConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	crd, err := kaiapi.CustomResourceDefinition()
	if err != nil {
		return err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: fields}
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("install %s: %w", crd.Name, err)
	}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var stored apiextensionsv1.CustomResourceDefinition
		if err := c.Get(ctx, client.ObjectKeyFromObject(crd), &stored); err != nil {
			return false, fmt.Errorf("wait for %s to be served: %w", crd.Name, err)
		}
		for _, condition := range stored.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}
