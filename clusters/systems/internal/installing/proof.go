package installing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// proofTimeout is how long it may take until the API server calls a webhook that answers. It usually takes less than a
// second.
const proofTimeout = 30 * time.Second

// Prove returns when each webhook that is called on creation has answered the API server. It creates the probes as dry
// runs. An accepted dry run proves nothing, because the API server may not know the webhook yet. A rejected one proves
// nothing either, because something else may have rejected it. The proof is that the count of the webhook's answers
// grows. count reads these counts, possibly from another API server than the one that gets the dry runs.
func (i *Installer) Prove(ctx context.Context, process *processes.Process, probes []*unstructured.Unstructured,
	hooks []webhooks.Hook, count func(context.Context) (map[webhooks.AnswerKey]float64, error),
) error {
	unproven := slices.DeleteFunc(slices.Clone(hooks), func(h webhooks.Hook) bool { return !h.Creates })
	if len(unproven) == 0 {
		return nil
	}
	if len(probes) == 0 {
		return fmt.Errorf("cannot prove that %s is served: the system has no probes; add an object for which it is called",
			unproven[0])
	}
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	counted := func() (counts map[webhooks.AnswerKey]float64, err error) {
		err = waiting.Once(ctx, func(ctx context.Context) error {
			counts, err = count(ctx)
			return err
		})
		return counts, err
	}
	// Each request has its own timeout: one webhook that does not answer must not take the time of all.
	err := waiting.Until(ctx, process, func(context.Context) error {
		before, err := counted()
		if err != nil {
			return err
		}
		var answers []string
		for _, probe := range probes {
			_ = waiting.Once(ctx, func(ctx context.Context) error {
				answers = append(answers, fmt.Sprintf("  %s %s: %s", probe.GetKind(), probe.GetName()+probe.GetGenerateName(),
					i.Objects.DryRun(ctx, probe)))
				return nil
			})
		}
		after, err := counted()
		if err != nil {
			return err
		}
		unproven = slices.DeleteFunc(unproven, func(h webhooks.Hook) bool { return after[h.Key()] > before[h.Key()] })
		if len(unproven) == 0 {
			return nil
		}
		return fmt.Errorf("the API server has counted no answer of %s. The probes, created as a dry run:\n%s", unproven[0],
			strings.Join(answers, "\n"))
	})
	if err != nil {
		return fmt.Errorf("prove that its webhooks are served: %w", err)
	}
	return nil
}

// ProveWebhooks returns when the webhooks that are called at a process have answered the API server.
func (i *Installer) ProveWebhooks(ctx context.Context, in *Installation, process *processes.Process, url string,
	probes []*unstructured.Unstructured,
) error {
	hooks, err := i.Webhooks.At(ctx, url)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(hooks, func(h webhooks.Hook) bool { return h.Creates }) {
		if err := i.Objects.AwaitAge(ctx, in.Objects); err != nil {
			return err
		}
	}
	return i.Prove(ctx, process, probes, hooks, i.Webhooks.Answers)
}

// Served returns when the CRDs and APIServices of a system are served. APIServices of a process that need not be ready
// may be unavailable.
func (i *Installer) Served(ctx context.Context, in *Installation, process *processes.Process, ready bool) error {
	if err := i.forgetDeleted(ctx, in); err != nil {
		return err
	}
	for _, object := range in.Objects {
		if object.Kind == objects.APIServiceKind && !ready {
			continue
		}
		look := func(ctx context.Context) error { return i.Objects.Served(ctx, object) }
		if err := waiting.Until(ctx, process, look); err != nil {
			return fmt.Errorf("wait until %s is served: %w", object, err)
		}
	}
	return nil
}
