package simulator

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// validatePath is the path of the webhook of the real KAI.
const validatePath = "/validate-scheduling-run-ai-v2alpha2-podgroup"

// endpoints are the paths that the simulator serves.
type endpoints struct {
	implementation
	options   Options
	authority []byte
	// The paths end with a mark of this run. So a call of one of them shows that the API server uses this run's
	// configuration.
	validatePath, mutatePath string
	// probeName is the name of the PodGroups that are created to find out which webhooks are called.
	probeName string
	// validated and mutated: the webhook was called for a PodGroup of that name.
	validated, mutated atomic.Bool
	ready              atomic.Bool
	// recorder records Events; nil without the liberty.
	recorder events.EventRecorder
}

func newEndpoints(i implementation, options Options) (*endpoints, error) {
	authority, err := operator.Authority(options.CertDir)
	if err != nil {
		return nil, err
	}
	run := rand.String(8)
	return &endpoints{
		implementation: i, options: options, authority: authority,
		validatePath: validatePath + "/" + run,
		mutatePath:   "/mutate-scheduling-run-ai-v2alpha2-podgroup/" + run,
		probeName:    "kai-simulator-" + run,
	}, nil
}

// serve serves the paths until the context ends.
func (e *endpoints) serve(ctx context.Context) error {
	return e.liberties.Serve(ctx, func(ctx context.Context) error {
		server := operator.Server(e.options.Host, e.options.Port, e.options.CertDir)
		if err := e.register(server); err != nil {
			return err
		}
		return server.Start(ctx)
	})
}

// register adds the paths to the server.
func (e *endpoints) register(server webhook.Server) error {
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return fmt.Errorf("make the scheme of PodGroups: %w", err)
	}
	judge := admission.WithValidator(scheme, e.validator()).Handler
	validate := func(ctx context.Context, request admission.Request) admission.Response {
		if request.Kind.Kind == "Pod" {
			return e.judgePod(request)
		}
		response := judge.Handle(ctx, request)
		e.record(request, response)
		return response
	}
	server.Register(e.validatePath, e.webhook(&e.validated, validate))
	// An older webhook configuration may also point to this server. Its path does not have the mark of this run.
	server.Register(validatePath, e.webhook(&atomic.Bool{}, validate))
	server.Register(e.mutatePath, e.webhook(&e.mutated, lowerer{e.faults}.Handle))
	server.Register("/readyz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !e.ready.Load() {
			http.Error(w, "the API server does not validate PodGroups like this simulator yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}))
	return nil
}

// webhook returns a webhook that records in asked whether it was called for the probe.
func (e *endpoints) webhook(asked *atomic.Bool, handle admission.HandlerFunc) *admission.Webhook {
	return e.liberties.Webhook(&admission.Webhook{
		Handler: admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
			if request.Name == e.probeName {
				asked.Store(true)
			}
			return handle(ctx, request)
		}),
		LogConstructor: func(logr.Logger, *admission.Request) logr.Logger { return e.options.Logger },
	}, otherWords)
}
