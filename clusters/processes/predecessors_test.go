package processes_test

import (
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// A process waits for the end of its predecessor of the same name, and gets its error. Other names do not wait.
func TestPredecessors(t *testing.T) {
	var p processes.Predecessors
	failed, ends := errors.New("it did not end"), make(chan struct{})
	gone := p.Begin("server", func() error {
		<-ends
		return failed
	})
	if err := p.Await("other"); err != nil {
		t.Errorf("another name: %v", err)
	}
	awaited := make(chan error, 1)
	go func() { awaited <- p.Await("server") }()
	select {
	case err := <-awaited:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	close(ends)
	if err := <-awaited; !errors.Is(err, failed) {
		t.Errorf("Await: %v, want %v", err, failed)
	}
	if err := gone(); !errors.Is(err, failed) { // every caller gets the error
		t.Errorf("gone: %v, want %v", err, failed)
	}
}
