package kind

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/rehearse-dev/rehearse/clusters"
)

// What came for all our patience is told from what did not come while a step lasted: only the first says something of the cluster.
func TestAwaitTellsLateFromCutShort(t *testing.T) {
	c := &Cluster{provider: &Provider{Options: Options{Progress: func(string, ...any) {}}}}
	look := func(context.Context) error { return errors.New("not yet") }
	synctest.Test(t, func(t *testing.T) {
		var late *lateError
		if err := c.await(t.Context(), "x", look); !errors.As(err, &late) {
			t.Errorf("after all patience: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience/2)
		defer cancel()
		if err := c.await(ctx, "x", look); err == nil || errors.As(err, &late) {
			t.Errorf("cut short: %v", err)
		}
	})
}

// Who already says which component is broken is believed, and nobody is blamed for what did not take long.
func TestBlameLeavesWhatIsKnown(t *testing.T) {
	c := &Cluster{}
	for _, err := range []error{
		nil, errors.New("something else"),
		&clusters.BrokenError{Component: clusters.Etcd, Err: &lateError{"etcd", errors.New("not yet")}},
	} {
		if got := c.blame(t.Context(), &nodeChange{}, err); got != err { //nolint:errorlint // it must be the same
			t.Errorf("got %v for %v", got, err)
		}
	}
	if needed(clusters.Etcd) >= needed(clusters.APIServer) || needed(clusters.APIServer) >= needed(clusters.Scheduler) {
		t.Error("the API server is to come after etcd, and before all else")
	}
}
