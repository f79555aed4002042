package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/kind/pkg/exec"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// kubeadmError matches the error lines of kubeadm's output.
var kubeadmError = regexp.MustCompile(`(?m)^(?:error|\[ERROR|E\d{4}|fatal).*$`)

// ExplainCreation adds the cause to an error of kind.
func ExplainCreation(err error) error {
	if err == nil {
		return nil
	}
	run := exec.RunErrorForError(err)
	if run == nil {
		return err
	}
	said := string(run.Output)
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(lower, "no space left on device"):
		return fmt.Errorf("the disk is full: %s", firstLine(said, "no space left"))
	case strings.Contains(lower, "operation not permitted") && strings.Contains(lower, "apply caps"):
		return fmt.Errorf("this host cannot grant a privileged container all capabilities that the engine requests: "+
			"%s; see https://github.com/rehearse-dev/rehearse/blob/main/docs/kind.md", strings.TrimSpace(said))
	}
	if lines := kubeadmError.FindAllString(said, 3); len(lines) > 0 {
		said = strings.Join(lines, " / ")
	} else if lines := strings.Split(strings.TrimSpace(said), "\n"); len(lines) > 3 {
		said = strings.Join(lines[len(lines)-3:], " / ")
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(said))
}

func firstLine(text, with string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), with) {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(text)
}

func ExplainKubeadm(n nodes.Node, out string, err error) error {
	if ctxErr := errors.Unwrap(err); errors.Is(ctxErr, context.Canceled) || errors.Is(ctxErr, context.DeadlineExceeded) {
		return err
	}
	if lines := kubeadmError.FindAllString(out, 5); len(lines) > 0 {
		return fmt.Errorf("kubeadm upgrade on %s: %s", n.Name, strings.Join(lines, " / "))
	}
	return fmt.Errorf("kubeadm upgrade on %s: %w", n.Name, err)
}
