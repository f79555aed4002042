package webhooks

import (
	"context"
	"fmt"

	dto "github.com/prometheus/client_model/go"

	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// AnswerKey identifies a webhook in the same way as the API server's metrics.
type AnswerKey struct{ name, step string }

// Key of the webhook.
func (h Hook) Key() AnswerKey { return AnswerKey{h.Name, h.Step} }

// The API server's counters of webhook calls. They also count failed calls, but not with code 200, and not as a
// rejection without an error.
const (
	requestsMetric   = "apiserver_admission_webhook_request_total"
	rejectionsMetric = "apiserver_admission_webhook_rejection_count"
)

// Answers reads from the API server's metrics how often each webhook has accepted or rejected a request.
func (c *Client) Answers(ctx context.Context) (map[AnswerKey]float64, error) {
	data, err := c.typed.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	return countAnswers(data)
}

func countAnswers(data []byte) (map[AnswerKey]float64, error) {
	families, err := proof.Families(data, requestsMetric, rejectionsMetric)
	if err != nil {
		return nil, fmt.Errorf("read how often webhooks answered: %w", err)
	}
	counts := map[AnswerKey]float64{}
	add := func(metric, label, value string) {
		for _, series := range families[metric].GetMetric() {
			labels := labelsOf(series)
			if labels[label] == value {
				counts[AnswerKey{labels["name"], labels["type"]}] += series.GetUntyped().GetValue()
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
