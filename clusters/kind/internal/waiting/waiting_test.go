package waiting

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// A wait that reaches its own timeout returns another error than one that its context cuts short: only the timeout
// shows a problem of the cluster.
func TestAwaitTellsLateFromCutShort(t *testing.T) {
	silent := func(string, ...any) {}
	look := func(context.Context) error { return errors.New("not yet") }
	synctest.Test(t, func(t *testing.T) {
		var late *LateError
		if err := Until(t.Context(), silent, "x", look); !errors.As(err, &late) {
			t.Errorf("after all patience: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience/2)
		defer cancel()
		if err := Until(ctx, silent, "x", look); err == nil || errors.As(err, &late) {
			t.Errorf("cut short: %v", err)
		}
	})
}

func TestBrief(t *testing.T) {
	err := errorText("an error on the server (\"[+]ping ok\n[-]poststarthook/rbac/bootstrap-roles failed: reason " +
		"withheld\n[+]etcd ok\")")
	if got, want := brief(err), "not ready yet: poststarthook/rbac/bootstrap-roles"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := brief(errorText(strings.Repeat("ä", 300))); len([]rune(got)) != 203 {
		t.Errorf("got %d letters", len([]rune(got)))
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }
