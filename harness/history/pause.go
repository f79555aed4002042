package history

import (
	"context"
	"errors"
)

var errPaused = errors.New("the storage is being replaced")

// Pause ends all lists and watches, and returns when they have ended. No others begin until Resume. Use it to replace
// the API server's storage (to restore a snapshot): what is there then may be older than what was seen. If the
// context ends first, it returns an error and nothing is paused.
func (r *Recorder) Pause(ctx context.Context) error {
	r.mu.Lock()
	if r.paused != nil {
		r.mu.Unlock()
		return errors.New("pause the history: it is paused already")
	}
	r.paused = make(chan struct{})
	for _, s := range r.streams {
		if s.working {
			s.interrupt()
		}
	}
	r.mu.Unlock()
	for _, s := range r.Streams() {
		if err := s.rest(ctx); err != nil {
			r.Resume()
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.era++
	for _, s := range r.streams {
		s.progress, s.expected, s.mustList = "", "", true
		s.disconnect(errPaused, false)
		s.broadcast()
	}
	return nil
}

// Resume ends a pause. Every stream begins with a list.
func (r *Recorder) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused != nil {
		close(r.paused)
		r.paused = nil
	}
}

// enter begins work on the stream as soon as there is no pause, and reports whether it must begin with a list.
func (s *Stream) enter(ctx context.Context) (working context.Context, mustList, ok bool) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	for s.recorder.paused != nil {
		over := s.recorder.paused
		s.recorder.mu.Unlock()
		select {
		case <-over:
		case <-ctx.Done():
		}
		s.recorder.mu.Lock()
		if ctx.Err() != nil {
			return ctx, false, false
		}
	}
	if s.mustList {
		select {
		case <-s.relist: // what was demanded is about to be done
		default:
		}
	}
	working, s.interrupt = context.WithCancel(ctx)
	mustList, s.working, s.mustList = s.mustList, true, false
	return working, mustList, true
}

func (s *Stream) leave() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.interrupt()
	s.working = false
	s.broadcast()
}

// rest returns when the stream is no longer being listed or watched.
func (s *Stream) rest(ctx context.Context) error {
	for {
		s.recorder.mu.RLock()
		working, wake := s.working, s.wake
		s.recorder.mu.RUnlock()
		if !working {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return errors.Join(errors.New("pause the history"), context.Cause(ctx))
		}
	}
}

// needList makes the next attempt begin with a list.
func (s *Stream) needList() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.mustList = true
}

// demandList ends the watch, so that a new list follows.
func (s *Stream) demandList() {
	s.needList()
	select {
	case s.relist <- struct{}{}:
	default:
	}
}
