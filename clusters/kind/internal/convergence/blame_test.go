package convergence

import (
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
)

// An error that already names the broken component does not change, and neither does an error that is no timeout.
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
