package terminal_test

import (
	"bytes"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// On a terminal, lines that differ only in an amount share one row. Other lines stay and are not cut.
func TestProgressOfACommandOnATerminal(t *testing.T) {
	var out bytes.Buffer
	clk := clocktesting.NewFakeClock(reporttest.Began)
	progress := terminal.NewProgress(terminal.Config{
		Out: &out, TTY: true, Clock: clk, Width: func() int { return 40 },
	})
	progress("creating 3 objects")
	for i := range 3 {
		progress("building kube-apiserver 1.35.4: %d packages compiled so far", 100*i)
		clk.Step(time.Second)
	}
	progress("BREAKS  1.33 -> 1.34  StatefulSet: every StatefulSet's pods\x1b[31m restart")
	progress("fetching 10%%")
	progress("fetching 20%%")
	want := "creating 3 objects\n" +
		"building kube-apiserver 1.35.4: 0 pa...\n" +
		"\x1b[1A\x1b[2Kbuilding kube-apiserver 1.35.4: 100...\n" +
		"\x1b[1A\x1b[2Kbuilding kube-apiserver 1.35.4: 200...\n" +
		"BREAKS 1.33 -> 1.34 StatefulSet: every StatefulSet's pods restart\n" +
		"fetching 10%\n\x1b[1A\x1b[2Kfetching 20%\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
