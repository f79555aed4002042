package load

import (
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Beyond returns the limits that the record exceeds. Without limits it returns none: it is normal that some requests
// fail while an API server restarts.
func (r Record) Beyond(allowed *scenarios.Limits) []string {
	if allowed == nil {
		return nil
	}
	var problems []string
	if most := allowed.Failures; most != nil && r.Failed > *most {
		problems = append(problems, fmt.Sprintf("%d of %d requests failed; allowed: %d", r.Failed, r.Sent, *most))
	}
	if most := allowed.FailurePercent; most != nil && r.Sent > 0 {
		if percent := 100 * float64(r.Failed) / float64(r.Sent); percent > *most {
			problems = append(problems, fmt.Sprintf("%.1f%% of %d requests failed; allowed: %v%%", percent, r.Sent, *most))
		}
	}
	if most := time.Duration(allowed.Outage); most > 0 && r.Longest > most {
		problems = append(problems, fmt.Sprintf("without an answer for %s; allowed: %s", r.outages(), most))
	}
	if limits := allowed.Latency; limits != nil {
		for _, limit := range []struct {
			name    string
			percent float64
			most    scenarios.Duration
		}{{"p50", 50, limits.P50}, {"p90", 90, limits.P90}, {"p99", 99, limits.P99}, {"max", 100, limits.Max}} {
			if took := r.Latency(limit.percent); limit.most > 0 && took > time.Duration(limit.most) {
				problems = append(problems, fmt.Sprintf("latency %s is %s; allowed: %s", limit.name, round(took), limit.most))
			}
		}
	}
	return problems
}
