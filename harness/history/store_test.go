package history

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// unconnected returns a recorder that reaches no API server.
func unconnected(t interface{ Fatal(args ...any) }, options ...Option) *Recorder {
	r, err := New(&rest.Config{}, options...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// listed returns a stream that got an empty list at resourceVersion 10, and that neither lists nor watches by itself.
func listed(t *testing.T) (*Stream, *clocktesting.FakeClock) {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	s := newStream(unconnected(t, WithClock(clock)), schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	s.replace(nil, "10", false)
	s.connected()
	return s, clock
}

func object(name, uid, resourceVersion string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetName(name)
	o.SetUID(types.UID(uid))
	o.SetResourceVersion(resourceVersion)
	return o
}

func TestEventsThatWereSeenBefore(t *testing.T) {
	s, _ := listed(t)
	s.tell(object("a", "1", "11"), false)
	s.tell(object("a", "1", "12"), false)
	for _, repeated := range []struct {
		object  *unstructured.Unstructured
		deleted bool
	}{
		{object("a", "1", "11"), false},
		{object("a", "1", "12"), false},
		{object("a", "0", "9"), true},
		{object("b", "2", "8"), true},
	} {
		s.tell(repeated.object, repeated.deleted)
	}
	if n := len(s.records); n != 2 {
		t.Errorf("%d changes, want the 2 that are new", n)
	}
	if s.progress != "12" {
		t.Errorf("seen up to %s, want 12", s.progress)
	}
}

func TestAnObjectInAnothersPlace(t *testing.T) {
	s, _ := listed(t)
	s.tell(object("a", "1", "11"), false)
	s.tell(object("a", "2", "13"), false)
	changes := s.ChangesBetween(1, 9, Scope{})
	if len(changes) != 2 || changes[0].Type != Deleted || changes[0].UID != "1" || !changes[0].More ||
		changes[1].Type != Added || changes[1].UID != "2" {
		t.Errorf("changes %+v, want the first object to go and the second to come at once", changes)
	}
}

func TestVersionsThatAreNoNumbers(t *testing.T) {
	s, _ := listed(t)
	for _, version := range []string{"x", "y", "x"} {
		s.tell(object("a", "1", version), false)
	}
	if n := len(s.records); n != 3 {
		t.Errorf("%d changes, want 3: versions without an order cannot be older", n)
	}
}

func TestConnectionsThatProveNothingEndNoGap(t *testing.T) {
	s, clock := listed(t)
	errGone, errEarlier := errors.New("gone"), errors.New("earlier")
	start := clock.Now()
	s.lost(errEarlier, false)
	clock.Step(time.Second)
	s.connected()
	clock.Step(time.Second)
	s.lost(errGone, true)
	if gaps := s.Gaps(); len(gaps) != 1 || !gaps[0].From.Equal(start) || !gaps[0].To.IsZero() {
		t.Errorf("gaps %+v, want one since the first break", gaps)
	}
	if view := s.View(Scope{}); !view.UnknownSince.Equal(start) {
		t.Errorf("unknown since %v, want %v", view.UnknownSince, start)
	}
	clock.Step(time.Second)
	s.replace(nil, "20", false)
	s.connected()
	clock.Step(time.Second)
	s.lost(errEarlier, true)
	if gaps := s.Gaps(); len(gaps) != 1 || !gaps[0].From.Equal(start) || !gaps[0].Relisted {
		t.Errorf("gaps %+v, want still the one since the first break, now with a list in it", gaps)
	}
	s.connected()
	clock.Step(time.Second)
	s.lost(errEarlier, false)
	gaps := s.Gaps()
	if len(gaps) != 2 || !gaps[0].Relisted || !gaps[0].To.Equal(start.Add(4*time.Second)) {
		t.Errorf("gaps %+v, want the first to have ended with the connection that proved itself", gaps)
	}
	if !gaps[1].From.Equal(start.Add(5*time.Second)) || gaps[1].Relisted {
		t.Errorf("gap %+v, want one since the last break", gaps[1])
	}
}

func TestAListAloneIsNoConnection(t *testing.T) {
	s, _ := listed(t)
	errRejected := errors.New("rejected")
	s.lost(errRejected, false)
	s.replace(nil, "20", false)
	if view := s.View(Scope{}); view.Synced || !errors.Is(view.Err, errRejected) {
		t.Errorf("synced %v, error %v before the watch is open", view.Synced, view.Err)
	}
	s.connected()
	if view := s.View(Scope{}); !view.Synced || view.Err != nil {
		t.Errorf("synced %v, error %v when the watch is open", view.Synced, view.Err)
	}
}

func TestTheFirstWatchLeavesAGapOnlyIfItFails(t *testing.T) {
	s := newStream(unconnected(t), schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	s.lost(errors.New("rejected"), false)
	if gaps := s.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps %+v before the first list", gaps)
	}
	s.replace(nil, "10", false)
	s.connected()
	if gaps := s.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps %+v, want none between a list and its watch", gaps)
	}
	s = newStream(unconnected(t), schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	s.replace(nil, "10", false)
	s.lost(errors.New("rejected"), false)
	if gaps := s.Gaps(); len(gaps) != 1 || !gaps[0].To.IsZero() || gaps[0].Relisted {
		t.Errorf("gaps %+v, want one that lasts", gaps)
	}
	s.connected()
	if gaps := s.Gaps(); len(gaps) != 1 || gaps[0].To.IsZero() || gaps[0].Relisted {
		t.Errorf("gaps %+v, want one that was bridged", gaps)
	}
}
