package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// The exit code tells a mistake in the input from a host that does not answer.
func TestExitCodeOfAnError(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, cli.ExitOK},
		{errors.New("no such flag"), cli.ExitInput},
		{&url.Error{Op: "parse", URL: "::", Err: errors.New("missing protocol scheme")}, cli.ExitInput},
		{&net.OpError{Op: "listen", Net: "tcp", Err: errors.New("address already in use")}, cli.ExitInput},
		{fmt.Errorf("find the newest patch: %w", &url.Error{Op: "Get", URL: "https://example.com", Err: dial}), cli.ExitBroken},
		{fmt.Errorf("plan: %w", &net.DNSError{Err: "no such host", Name: "example.com"}), cli.ExitBroken},
		{fmt.Errorf("plan: %w", context.DeadlineExceeded), cli.ExitBroken},
		{fmt.Errorf("plan: %w", clusters.ErrUnreachable), cli.ExitBroken},
		{&cli.ExitError{Code: cli.ExitFailed, Err: dial}, cli.ExitFailed},
	} {
		root := &cobra.Command{
			Use: "rehearse", SilenceErrors: true, SilenceUsage: true,
			RunE: func(*cobra.Command, []string) error { return c.err },
		}
		if got := Execute(t.Context(), root, nil, nil, io.Discard, io.Discard); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}
