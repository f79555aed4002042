// Package load sends requests at a rate while something else happens, and summarizes their results at the end.
package load

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Outcome is what became of a request.
type Outcome int

// The outcomes of a request.
const (
	// Failed: there was no answer, or none that says anything about the request.
	Failed Outcome = iota
	// Accepted by the API server.
	Accepted
	// Rejected by the API server.
	Rejected
)

// Answer is what became of one request.
type Answer struct {
	Outcome Outcome
	// Unexpected: it was accepted, or rejected, and should not have been so.
	Unexpected bool
	// Text says why it was not accepted. Alike tells equal reasons; Text unless set.
	Text, Alike string
}

// Request is one request that has ended.
type Request struct {
	Answer
	// Began and Ended are when it was sent, and when it was answered or given up.
	Began, Ended time.Time
}

const (
	// inFlight is how many requests of a load may wait for their answers at the same time.
	inFlight = 16
	// defaultRate is how many requests are sent in a second.
	defaultRate = 10
	// defaultTimeout is how long an answer may take.
	defaultTimeout = 5 * time.Second
)

// Load is requests of one kind.
type Load struct {
	// Name of the load.
	Name string
	// Rate is how many are sent in a second; 10 unless set.
	Rate float64
	// Timeout of one request; 5 seconds unless set.
	Timeout time.Duration
	// Send sends the n-th request, from 0. It is called from several goroutines.
	Send func(ctx context.Context, n int64) Answer
	// Clock that the requests are sent by.
	Clock clock.WithTicker
}

// Running is a load that goes on.
type Running struct {
	load Load
	room chan struct{}
	stop chan struct{}
	// over is closed when no request is under way any more.
	over chan struct{}

	mu       sync.Mutex
	requests []Request
	left     int
	// wake is closed, and made anew, when a request has ended.
	wake chan struct{}
	once sync.Once
}

// Start begins a load, which goes on until Stop, or until the context ends.
func (l Load) Start(ctx context.Context) *Running {
	if l.Rate <= 0 {
		l.Rate = defaultRate
	}
	if l.Timeout <= 0 {
		l.Timeout = defaultTimeout
	}
	r := &Running{
		load: l, room: make(chan struct{}, inFlight), stop: make(chan struct{}), over: make(chan struct{}),
		wake: make(chan struct{}),
	}
	ticker := l.Clock.NewTicker(time.Duration(float64(time.Second) / l.Rate))
	go func() {
		defer close(r.over)
		defer ticker.Stop()
		var sending sync.WaitGroup
		defer sending.Wait()
		for n := int64(0); ; {
			select {
			case r.room <- struct{}{}:
				number := n
				sending.Go(func() { r.send(ctx, number) })
				n++
			default:
				r.leaveOut()
			}
			select {
			case <-ticker.C():
			case <-r.stop:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return r
}

func (r *Running) send(ctx context.Context, n int64) {
	defer func() { <-r.room }()
	limited, cancel := context.WithTimeout(ctx, r.load.Timeout)
	defer cancel()
	began := r.load.Clock.Now()
	answer := r.load.Send(limited, n)
	if ctx.Err() != nil {
		return // it says nothing: the run was stopped
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, Request{Answer: answer, Began: began, Ended: r.load.Clock.Now()})
	close(r.wake)
	r.wake = make(chan struct{})
}

// leaveOut counts a request that was not sent, because as many as may be wait for their answers.
func (r *Running) leaveOut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left++
}

// Answered waits until a request that was sent after the moment was answered, be it as it should be or not; false when
// the context ends first.
func (r *Running) Answered(ctx context.Context, after time.Time) bool {
	for {
		r.mu.Lock()
		wake := r.wake
		for _, request := range r.requests {
			if !request.Began.Before(after) && request.Outcome != Failed {
				r.mu.Unlock()
				return true
			}
		}
		r.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return false
		}
	}
}

// Stop ends the load, waits for the answers to what was sent, and returns what became of it all.
func (r *Running) Stop() Record {
	r.once.Do(func() { close(r.stop) })
	<-r.over
	r.mu.Lock()
	defer r.mu.Unlock()
	return newRecord(r.load.Name, r.requests, r.left)
}

// good says whether the request was answered as it should be.
func (r Request) good() bool { return r.Outcome != Failed && !r.Unexpected }
