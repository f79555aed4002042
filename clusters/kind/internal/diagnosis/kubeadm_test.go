package diagnosis

import (
	"errors"
	"testing"

	"sigs.k8s.io/kind/pkg/exec"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The output of kind's commands in a failed creation becomes one sentence.
func TestExplainCreation(t *testing.T) {
	failed := errors.New("exit status 125")
	for said, want := range map[string]string{
		"docker: Error response from daemon: write /var/lib/docker/x: no space left on device.":          "the disk is full: docker: Error response from daemon: write /var/lib/docker/x: no space left on device.",
		"OCI runtime create failed: unable to apply caps: operation not permitted":                       "all capabilities that the engine requests",
		"[init] Using Kubernetes version\n[ERROR NumCPU]: too few\nerror execution phase preflight\nbye": "[ERROR NumCPU]: too few / error execution phase preflight",
		"a\nb\nc\nd": "b / c / d",
	} {
		golden.Error(t,
			ExplainCreation(&exec.RunError{Command: []string{"docker", "run"}, Output: []byte(said), Inner: failed}), want)
	}
	if err := ExplainCreation(failed); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}
