package nodes

import (
	"context"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Controllers may start at the same time. Without the first warm, Go ends this program in some runs ("concurrent map
// writes").
func TestControllersStartTogether(t *testing.T) {
	golden.Must(t, warm(t.Context()))
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
