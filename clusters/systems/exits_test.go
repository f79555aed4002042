package systems

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// A survey ends as soon as a program has exited, and not before.
func TestASurveyEndsWithAProgram(t *testing.T) {
	death := errors.New("policy ended by itself: exit status 3")
	var looks atomic.Int32
	ctx, stop := whileRunning(t.Context(), func() error {
		if looks.Add(1) < 3 {
			return nil
		}
		return death
	}, time.Millisecond)
	defer stop()
	<-ctx.Done()
	if got := context.Cause(ctx); !errors.Is(got, death) || looks.Load() != 3 {
		t.Errorf("after %d looks: %v", looks.Load(), got)
	}
}

// If all programs run, the context ends with its survey.
func TestASurveyOfRunningPrograms(t *testing.T) {
	ctx, stop := whileRunning(t.Context(), func() error { return nil }, time.Hour)
	if err := ctx.Err(); err != nil {
		t.Errorf("it ends at once: %v", err)
	}
	if stop(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("it goes on: %v", context.Cause(ctx))
	}
}

// dying is a cluster of which a component has exited.
type dying struct {
	clusters.Cluster
	clusters.ProcessRunner
	died chan error
}

func (d dying) Died() <-chan error { return d.died }

// The death of a component is known to all who ask, also after the first one.
func TestADeathStays(t *testing.T) {
	death := errors.New("kube-apiserver exited: exit status 2")
	h := &Host{Cluster: dying{died: make(chan error, 1)}}
	if err := h.Death(); err != nil {
		t.Fatalf("all components run, but: %v", err)
	}
	h.Cluster.(dying).died <- death
	ctx, stop := WhileRunning(t.Context(), h.Death)
	defer stop()
	<-ctx.Done()
	if got := context.Cause(ctx); !errors.Is(got, death) || !errors.Is(h.Death(), death) {
		t.Errorf("the context ends with %v; afterwards, the death is %v", got, h.Death())
	}
	h.Cluster.(dying).died <- errors.New("etcd exited: exit status 1")
	if all := h.Deaths(); len(all) != 2 || !errors.Is(h.Death(), death) {
		t.Errorf("deaths %v", all)
	}
}
