package webhooks

import (
	"fmt"
	"testing"
)

func counter(code string, n int) string {
	return fmt.Sprintf("# TYPE other counter\nother{name=\"w\"} "+
		"7\n%s{code=%q,name=\"w\",operation=\"CREATE\",rejected=\"false\",type=\"validating\"} %d\n", requestsMetric, code, n)
}

func rejection(kind string, n int) string {
	return fmt.Sprintf("%s{error_type=%q,name=\"w\",operation=\"CREATE\",rejection_code=\"403\",type=\"validating\"} %d\n",
		rejectionsMetric, kind, n)
}

func TestCountAnswers(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0,
		"apiserver_admission_webhook_request_total_x{name=\"w\"} 3\n": 0,
		counter("200", 3): 3,
		counter("200", 3) + rejection("no_error", 2):               5,
		counter("403", 3) + rejection("no_error", 3):               3,
		counter("404", 3) + rejection("calling_webhook_error", 3):  0,
		counter("500", 3) + rejection("calling_webhook_error", 3):  0,
		counter("0", 3) + rejection("apiserver_internal_error", 3): 0,
	} {
		counts, err := countAnswers([]byte(text))
		if got := counts[AnswerKey{"w", "validating"}]; err != nil || got != want {
			t.Errorf("%s\n%v answers, %v; want %v", text, got, err, want)
		}
		if got := counts[AnswerKey{"w", "admit"}]; got != 0 {
			t.Errorf("%v answers of a mutating webhook of the same name", got)
		}
	}
}
