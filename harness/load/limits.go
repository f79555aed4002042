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
	failed, all, missed := r.Failed+r.Missed, r.Sent+r.Missed, ""
	if r.Missed > 0 {
		missed = fmt.Sprintf(" (%d of them were not sent, because too many others waited for an answer)", r.Missed)
	}
	if most := allowed.Failures; most != nil && failed > *most {
		problems = append(problems, fmt.Sprintf("%d of %d requests failed%s; allowed: %d", failed, all, missed, *most))
	}
	if most := allowed.FailurePercent; most != nil && all > 0 {
		if percent := 100 * float64(failed) / float64(all); percent > *most {
			problems = append(problems, fmt.Sprintf("%.1f%% of %d requests failed%s; allowed: %v%%", percent, all, missed,
				*most))
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

// Undecided returns why the record does not show whether a limit is exceeded; "" if it does.
func (r Record) Undecided(allowed *scenarios.Limits) string {
	if allowed == nil || allowed.Failures == nil && allowed.FailurePercent == nil || r.Uncounted == 0 {
		return ""
	}
	return fmt.Sprintf("this machine stood still for %s, and %d requests failed meanwhile: it is not known whether they "+
		"would have failed anyway", round(r.StoodStill), r.Uncounted)
}
