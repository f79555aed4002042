package waiting

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/forwarding"
)

// A program counts as unready only if it fails for a while, as for a kubelet.
func TestShortFailuresDoNotMakeAProgramUnready(t *testing.T) {
	for failing, want := range map[time.Duration]bool{
		0: true, forwarding.ProbePeriod: true, forwarding.ProbePeriod * 3 / 2: true, forwarding.ProbePeriod * 3: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got := Holds(t.Context(), func(context.Context) error {
				if time.Since(began) < failing {
					return errors.New("503")
				}
				return nil
			})
			if got != want {
				t.Errorf("failing for %s: ready is %t", failing, got)
			}
		})
	}
}
