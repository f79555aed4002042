package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/proof"
	"github.com/rehearse-dev/rehearse/harness/window"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// defaultWindowSettle is how long the objects that Kubernetes keeps for itself are watched in a window.
const defaultWindowSettle = 4 * time.Second

func windowVerb() verb {
	return verb{
		run: runWindow, needs: always(clusters.AbilityMixedVersions),
		alone: func(step *scenarios.Step) string {
			if slices.Contains(step.Window.Chosen(), "writes") {
				return "writes every object of the cluster"
			}
			return ""
		},
	}
}

// runWindow judges the window that a transition holds open.
func runWindow(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	rolling, able := s.shared.cluster.(clusters.Rolling)
	if !able {
		return result{Outcome: lacking("window", s.shared.cluster)}
	}
	servers := rolling.Servers()
	if len(servers) == 0 {
		return failure(reports.Error, "window: no API server runs")
	}
	oldest, newest := slices.MinFunc(servers, byVersion), slices.MaxFunc(servers, byVersion)
	if byVersion(oldest, newest) == 0 {
		return failure(reports.Error, "window: all API servers have the same state: %v", servers)
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout(step, s.shared.StepTimeout))
	defer cancel()
	if err := s.settling.quietly(limited, step); err != nil {
		return failure(reports.Error, "window: %v", err)
	}
	verdict, err := window.Judge(limited, asWindow(oldest), asWindow(newest), window.Options{
		Checks: step.Window.Chosen(), Settle: step.Window.Settle.Or(defaultWindowSettle),
		Leader: func(ctx context.Context) (window.Server, error) { return leader(ctx, s.shared.cluster, servers) },
	})
	outcome := reports.Outcome{
		Status: reports.Passed, Evidence: strings.Join(append(verdict.Evidence, verdict.Unjudged...), "\n"),
		Problems: problemsOf(verdict, err),
	}
	switch {
	case len(verdict.Problems) > 0:
		outcome.Status, outcome.Message = reports.Failed, strings.Join(verdict.Problems, "\n")
	case err != nil:
		outcome.Status, outcome.Message = reports.Error, fmt.Sprintf("window: %v", err)
	case len(verdict.Unjudged) > 0:
		outcome.Status = reports.Error
		outcome.Message = "window: not judged: " + strings.Join(verdict.Unjudged, "\n")
	}
	return result{Outcome: outcome}
}

// problemsOf lists the problems of a window, and what could not be judged.
func problemsOf(verdict window.Verdict, err error) []reports.Outcome {
	var all []reports.Outcome
	for _, text := range verdict.Problems {
		all = append(all, problem(reports.Failed, text))
	}
	for _, text := range verdict.Unjudged {
		all = append(all, problem(reports.Error, "window: not judged: "+text))
	}
	if err != nil {
		all = append(all, problem(reports.Error, fmt.Sprintf("window: %v", err)))
	}
	return reports.Several(all)
}

func asWindow(server clusters.Server) window.Server {
	return window.Server{Name: server.String(), Version: server.Version, REST: server.REST}
}

// leader returns the server of the control plane whose controller manager leads, with the controller manager's
// version. Both come from the controller manager's own metrics.
func leader(ctx context.Context, c clusters.Cluster, servers []clusters.Server) (window.Server, error) {
	source, able := c.(clusters.MetricsSource)
	if !able {
		return window.Server{}, errors.New("the cluster does not show its components' metrics")
	}
	leads := scenarios.Metric{
		Name:   "leader_election_master_status",
		Labels: map[string]string{"name": string(clusters.ControllerManager)},
	}
	var problems []error
	for _, server := range servers {
		text, err := source.Metrics(ctx, clusters.ControllerManager.On(server.Plane))
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if now, err := readMetric(text, leads); err != nil {
			problems = append(problems, err)
		} else if now.value == 1 {
			at := asWindow(server)
			if at.Version, err = proof.Version(text); err == nil && at.Version == "" {
				err = fmt.Errorf("the metrics of %s do not show its version",
					clusters.ControllerManager.On(server.Plane))
			}
			return at, err
		}
	}
	return window.Server{}, errors.Join(append(problems, errors.New("no controller manager leads"))...)
}
