package simulator

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// manager creates a manager with the webhooks, the controllers, or both.
func (s *simulation) manager(ctx context.Context, part liberty.Part) (manager.Manager, error) {
	scheme, err := operator.Scheme(clientgoscheme.AddToScheme, api.AddToScheme)
	if err != nil {
		return nil, err
	}
	ours, err := labels.NewRequirement(api.LabelName, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	options := s.behaviour.Manager(s.Options, scheme, labels.NewSelector().Add(*ours), &api.LeaderWorkerSet{},
		isSharedService)
	part.Elect(&options, fieldManager)
	m, err := manager.New(s.RESTConfig, options)
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	if part.Controllers {
		if err := s.addControllers(m); err != nil {
			return nil, err
		}
	}
	if !part.Webhooks {
		return m, nil
	}
	if err := operator.ServeReadiness(ctx, m, &api.LeaderWorkerSet{}, &appsv1.StatefulSet{}, &appsv1.ControllerRevision{},
		&corev1.Pod{}, &corev1.Service{}); err != nil {
		return nil, err
	}
	s.serveWebhooks(m)
	return m, nil
}

func (s *simulation) serveWebhooks(m manager.Manager) {
	server, scheme := m.GetWebhookServer(), m.GetScheme()
	serve := func(path string, w *admission.Webhook) {
		server.Register(path, s.behaviour.Liberties.Webhook(w, nil))
	}
	serve(pathDefaultSet, admission.WithDefaulter(scheme, &setDefaulter{behaviour: s.behaviour}))
	serve(pathValidateSet, admission.WithValidator(scheme, &setValidator{behaviour: s.behaviour}))
	serve(pathValidateScale, &webhook.Admission{Handler: &scaleValidator{reader: m.GetClient()}})
	serve(pathValidatePod, &webhook.Admission{Handler: admission.HandlerFunc(func(context.Context,
		admission.Request,
	) admission.Response {
		return admission.Allowed("")
	})})
	serve(pathMutatePod, admission.WithDefaulter(scheme, &podDefaulter{behaviour: s.behaviour, reader: m.GetClient()}))
}

func (s *simulation) addControllers(m manager.Manager) error {
	stored := &revisions{client: m.GetClient(), behaviour: s.behaviour}
	bySet := handler.EnqueueRequestsFromMapFunc(toSet)
	recorder, liberties := m.GetEventRecorder(Name), s.behaviour.Liberties
	err := builder.ControllerManagedBy(m).Named("leaderworkerset").
		For(&api.LeaderWorkerSet{}).
		Watches(&appsv1.StatefulSet{}, bySet).Watches(&corev1.Pod{}, bySet).Watches(&corev1.Service{}, bySet).
		Complete(liberties.Reconciler("leaderworkerset", liberties.Events(m.GetAPIReader(), recorder,
			api.GroupVersion.WithKind("LeaderWorkerSet"), &setReconciler{
				client: m.GetClient(), live: m.GetAPIReader(), events: recorder, behaviour: s.behaviour, revisions: stored,
			})))
	if err != nil {
		return fmt.Errorf("add the controller of LeaderWorkerSets: %w", err)
	}
	toOwner := handler.EnqueueRequestsFromMapFunc(toOwnerPod)
	noticed := builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool {
		return !s.behaviour.in(o.GetNamespace()).Has(faultServicesByNameOnly) &&
			!s.behaviour.Liberties.Has(libertyErrorsMeanwhile)
	}))
	gone := newGoneWorkers()
	err = builder.ControllerManagedBy(m).Named("pod").For(&corev1.Pod{}).Watches(&corev1.Pod{}, gone.handler()).
		Watches(&appsv1.StatefulSet{}, toOwner).Watches(&corev1.Service{}, toOwner, noticed).
		Complete(liberties.Reconciler("pod", liberties.Events(m.GetAPIReader(), recorder,
			corev1.SchemeGroupVersion.WithKind("Pod"), &podReconciler{
				client: m.GetClient(), live: m.GetAPIReader(), events: recorder, behaviour: s.behaviour, revisions: stored,
				gone: gone,
			})))
	if err != nil {
		return fmt.Errorf("add the controller of pods: %w", err)
	}
	return nil
}

// isSharedService reports whether an object is the Service of all groups, which may be created again before it is used.
// A replica's Service may not: its leader may be deleted meanwhile, and no Service is created for a leader that is
// being deleted.
func isSharedService(object client.Object) bool {
	_, service := object.(*corev1.Service)
	return service && object.GetName() == object.GetLabels()[api.LabelName]
}

// toSet maps an object that was created for a LeaderWorkerSet to it, by label: also one that belongs to an earlier
// LeaderWorkerSet of the same name.
func toSet(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{
		Namespace: object.GetNamespace(),
		Name:      object.GetLabels()[api.LabelName],
	}}}
}

// toOwnerPod maps a dependent of a leader to the leader, or to the pod that now has its name.
func toOwnerPod(_ context.Context, object client.Object) []reconcile.Request {
	owner := metav1.GetControllerOf(object)
	if owner == nil || owner.Kind != "Pod" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: owner.Name}}}
}
