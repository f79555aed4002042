package convergence

import (
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
)

// Who already says which component is broken is believed, and nobody is blamed for what did not take long.
func TestBlameLeavesWhatIsKnown(t *testing.T) {
	c := &Converger{}
	for _, err := range []error{
		nil, errors.New("something else"),
		&clusters.BrokenError{Component: clusters.Etcd, Err: &waiting.LateError{What: "etcd", Last: errors.New("not yet")}},
	} {
		if got := c.blame(t.Context(), &nodeChange{}, err); got != err { //nolint:errorlint // it must be the same
			t.Errorf("got %v for %v", got, err)
		}
	}
	if needed(clusters.Etcd) >= needed(clusters.APIServer) || needed(clusters.APIServer) >= needed(clusters.Scheduler) {
		t.Error("the API server is to come after etcd, and before all else")
	}
}
