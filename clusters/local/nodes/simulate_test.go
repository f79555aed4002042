package nodes

import (
	"context"
	"sync"
	"testing"
)

// Controllers may start at the same time. Without the first warm, Go ends this program in some runs ("concurrent map
// writes").
func TestControllersStartTogether(t *testing.T) {
	if err := warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range 64 {
		all.Go(func() {
			<-begin
			if err := warm(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	all.Wait()
}
