package releases

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// programVersion asks a program for its version: `kube-apiserver --version` prints "Kubernetes v1.34.4". It ignores the
// suffix of a development build.
func programVersion(ctx context.Context, path string) (clusters.Version, error) {
	out, err := output(ctx, path, "--version")
	if err != nil {
		return clusters.Version{}, err
	}
	printed, kubernetes := strings.CutPrefix(out, "Kubernetes v")
	v, err := clusters.ParseRelease(printed)
	if err != nil || !kubernetes {
		return clusters.Version{}, fmt.Errorf("%s --version printed %.80q, not a version of Kubernetes", path, out)
	}
	return v, nil
}

// provesVersion runs a program to check that it runs here and has the version. Programs without --version are not
// checked.
func provesVersion(ctx context.Context, path string, want clusters.Version) error {
	if slices.Contains([]string{"kubectl", "kubeadm"}, filepath.Base(path)) {
		return nil
	}
	got, err := programVersion(ctx, path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s --version says %s, not %s", filepath.Base(path), got, want)
	}
	return nil
}

// output runs a program that exits by itself, and returns its standard output.
func output(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for attempt := 0; ; attempt++ {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		// A newly written program is "busy" while a child that was forked in the meantime still has it open.
		if errors.Is(err, syscall.ETXTBSY) && attempt < 50 && pauses.For(ctx, 20*time.Millisecond) {
			continue
		}
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) && len(exit.Stderr) > 0 {
				err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
			}
			return "", fmt.Errorf("running %s %s: %w", path, strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
}
