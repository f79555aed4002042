package simulator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// manager creates a manager with the webhook, the controllers, or both.
func (s *simulation) manager(ctx context.Context, part liberty.Part) (manager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	ours := labels.SelectorFromSet(labels.Set{api.LabelManagedBy: api.ManagedBy})
	options := s.behaviour.Manager(s.Options, scheme, ours, &api.PodCliqueSet{}, isGang)
	part.Elect(&options, fieldManager)
	m, err := manager.New(s.RESTConfig, options)
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	chosen := selection{registry: s.registry, config: s.config, behaviour: s.behaviour}
	if part.Controllers {
		if err := s.addControllers(m, chosen); err != nil {
			return nil, err
		}
	}
	if !part.Webhooks {
		return m, nil
	}
	if err := operator.ServeReadiness(ctx, m, &api.PodCliqueSet{}, &api.PodClique{}, &scheduler.PodGang{},
		&corev1.Pod{}); err != nil {
		return nil, err
	}
	m.GetWebhookServer().Register(pathValidate, s.behaviour.Liberties.Webhook(admission.WithValidator(scheme,
		&validator{selection: chosen}), nil))
	return m, nil
}

func (s *simulation) addControllers(m manager.Manager, chosen selection) error {
	// Reads do not use the cache: the objects that the controllers count must exist.
	store := store{Client: m.GetClient(), live: m.GetAPIReader(), liberties: s.behaviour.Liberties}
	reconciler := func(name string, kind schema.GroupVersionKind, inner reconcile.Reconciler) reconcile.Reconciler {
		liberties := s.behaviour.Liberties
		return liberties.Reconciler(name, liberties.Events(m.GetAPIReader(), m.GetEventRecorder(Name), kind, inner))
	}
	bySet := handler.EnqueueRequestsFromMapFunc(byLabel(api.LabelPartOf))
	err := builder.ControllerManagedBy(m).Named("podcliqueset").
		For(&api.PodCliqueSet{}, builder.WithPredicates(operator.SpecChanged())).
		Watches(&scheduler.PodGang{}, bySet).Watches(&api.PodClique{}, bySet).Watches(&corev1.Pod{}, bySet).
		Complete(reconciler("podcliqueset", api.GroupVersion.WithKind("PodCliqueSet"),
			&setReconciler{store: store, selection: chosen}))
	if err != nil {
		return fmt.Errorf("add the controller of PodCliqueSets: %w", err)
	}
	err = builder.ControllerManagedBy(m).Named("podclique").
		For(&api.PodClique{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(byLabel(api.LabelPodClique))).
		Watches(&scheduler.PodGang{}, handler.EnqueueRequestsFromMapFunc(store.cliquesOfGang)).
		Complete(reconciler("podclique", api.GroupVersion.WithKind("PodClique"),
			&cliqueReconciler{store: store, selection: chosen}))
	if err != nil {
		return fmt.Errorf("add the controller of PodCliques: %w", err)
	}
	changed := builder.WithPredicates(predicate.Or(operator.SpecChanged(),
		predicate.NewPredicateFuncs(func(o client.Object) bool {
			return s.behaviour.in(o.GetNamespace()).Has(faultSyncOnStatus)
		})))
	err = builder.ControllerManagedBy(m).Named("backend").For(&scheduler.PodGang{}, changed).
		Complete(reconciler("backend", scheduler.GroupVersion.WithKind("PodGang"),
			&gangReconciler{store: store, selection: chosen}))
	if err != nil {
		return fmt.Errorf("add the backend controller: %w", err)
	}
	return nil
}

// isGang reports whether an object is a PodGang, which may be created again before anything refers to it.
func isGang(object client.Object) bool {
	_, gang := object.(*scheduler.PodGang)
	return gang
}

// byLabel maps an object to the one that its label names.
func byLabel(label string) handler.MapFunc {
	return func(_ context.Context, object client.Object) []reconcile.Request {
		name := object.GetLabels()[label]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: name}}}
	}
}
