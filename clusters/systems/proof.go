package systems

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/proof"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

// proofTimeout is how long it may take until the API server calls a webhook that answers. It usually takes less than a
// second.
const proofTimeout = 30 * time.Second

// prove returns when each webhook that is called on creation has answered the API server. It creates the probes as dry
// runs. An accepted dry run proves nothing, because the API server may not know the webhook yet. A rejected one proves
// nothing either, because something else may have rejected it. The proof is that the count of the webhook's answers
// grows. count reads these counts, possibly from another API server than the one that gets the dry runs.
func (s *installer) prove(ctx context.Context, process *processes.Process, probes []*unstructured.Unstructured,
	hooks []hook, count func(context.Context) (map[answerKey]float64, error),
) error {
	open := slices.DeleteFunc(slices.Clone(hooks), func(h hook) bool { return !h.creates })
	if len(open) == 0 {
		return nil
	}
	if len(probes) == 0 {
		return fmt.Errorf("cannot prove that %s is served: the system has no probes; add an object for which it is called",
			open[0])
	}
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	err := waiting.Until(ctx, process, func(ctx context.Context) error {
		answers, err := s.probe(ctx, probes,
			func(h hook) { open = slices.DeleteFunc(open, func(w hook) bool { return w.key() == h.key() }) }, open,
			count)
		if err != nil || len(open) == 0 {
			return err
		}
		return fmt.Errorf("the API server has counted no answer of %s. The probes, created as a dry run:\n%s", open[0],
			strings.Join(answers, "\n"))
	})
	if err != nil {
		return fmt.Errorf("prove that its webhooks are served: %w", err)
	}
	return nil
}

// probe creates the probes as dry runs. It calls answered for each webhook whose count of answers has grown, and
// returns the results of the dry runs.
func (s *installer) probe(ctx context.Context, probes []*unstructured.Unstructured, answered func(hook),
	open []hook, count func(context.Context) (map[answerKey]float64, error),
) (answers []string, err error) {
	before, err := count(ctx)
	if err != nil {
		return nil, err
	}
	for _, probe := range probes {
		answers = append(answers,
			fmt.Sprintf("  %s %s: %s", probe.GetKind(), probe.GetName()+probe.GetGenerateName(), s.api.dryRun(ctx, probe)))
	}
	after, err := count(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Clone(open) {
		if after[h.key()] > before[h.key()] {
			answered(h)
		}
	}
	return answers, nil
}

// dryRun creates an object as a dry run, and returns the result as text.
func (a *api) dryRun(ctx context.Context, object *unstructured.Unstructured) string {
	client, _, _, err := a.resource(object)
	if err != nil {
		return err.Error()
	}
	object = object.DeepCopy()
	if object.GetName() == "" && object.GetGenerateName() == "" {
		object.SetGenerateName("probe-")
	}
	if _, err := client.Create(ctx, object,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: manager}); err != nil {
		return err.Error()
	}
	return "accepted"
}

// answerKey identifies a webhook in the same way as the API server's metrics.
type answerKey struct{ name, step string }

func (h hook) key() answerKey { return answerKey{h.name, h.step} }

// The API server's counters of webhook calls. They also count failed calls, but not with code 200, and not as a
// rejection without an error.
const (
	requestsMetric   = "apiserver_admission_webhook_request_total"
	rejectionsMetric = "apiserver_admission_webhook_rejection_count"
)

// answers reads from the API server's metrics how often each webhook has accepted or rejected a request.
func (a *api) answers(ctx context.Context) (map[answerKey]float64, error) {
	data, err := a.discovery.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	return countAnswers(data)
}

func countAnswers(data []byte) (map[answerKey]float64, error) {
	families, err := proof.Families(data, requestsMetric, rejectionsMetric)
	if err != nil {
		return nil, fmt.Errorf("read how often webhooks answered: %w", err)
	}
	counts := map[answerKey]float64{}
	add := func(metric, label, value string) {
		for _, series := range families[metric].GetMetric() {
			labels := labelsOf(series)
			if labels[label] == value {
				counts[answerKey{labels["name"], labels["type"]}] += series.GetUntyped().GetValue()
			}
		}
	}
	add(requestsMetric, "code", "200")
	add(rejectionsMetric, "error_type", "no_error")
	return counts, nil
}

func labelsOf(series *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, pair := range series.GetLabel() {
		labels[pair.GetName()] = pair.GetValue()
	}
	return labels
}
