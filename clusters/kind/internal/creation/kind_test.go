package creation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A creation that was given up ends when kind has ended, or when the engine does not answer.
func TestAbandon(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		ended  bool // kind has ended
		want   string
	}{
		"kind has ended": {script: "exit 0", ended: true},
		"the engine hangs": {
			script: "exec tail -f /dev/null",
			want: "containers of the kind cluster hung may remain; if so, docker ps --all --filter " +
				"label=io.x-k8s.kind.cluster=hung shows them, and the next run removes them: look for the nodes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := record.New(t.TempDir(), "hung", clusters.State{Version: "1.35.4"})
			golden.Must(t, err)
			c := &Creator{Engine: fakeEngine(t, test.script), Record: r, Progress: func(string, ...any) {}}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			done, timeout := make(chan error, 1), 50*time.Millisecond
			if test.ended {
				done <- errors.New("interrupted")
				timeout = time.Minute
			}
			err = c.abandon(ctx, done, timeout, 0)
			if test.want != "" {
				golden.Error(t, err, test.want)
			} else {
				golden.Must(t, err)
			}
		})
	}
}
