// Package load sends requests at a rate while something else happens, and summarizes their results at the end.
package load

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Outcome is the result of a request.
type Outcome int

// The outcomes of a request.
const (
	// Failed: there was no answer, or only one that says nothing about the request.
	Failed Outcome = iota
	// Accepted by the API server.
	Accepted
	// Rejected by the API server.
	Rejected
)

// Answer is the result of one request.
type Answer struct {
	Outcome Outcome
	// Unexpected: the outcome was accepted or rejected, but should have been the opposite.
	Unexpected bool
	// Text says why it was not accepted. Alike is equal for equal reasons. Default: Text.
	Text, Alike string
	// Unsent: the request could not be made, so it counts as nothing.
	Unsent bool
}

// Request is one request that has ended.
type Request struct {
	Answer
	// Began is when it was sent, and Ended when it was answered or abandoned.
	Began, Ended time.Time
}

const (
	// inFlight is the maximum number of a load's requests that wait for an answer.
	inFlight = 16
	// defaultRate is the number of requests per second.
	defaultRate = 10
	// defaultTimeout is the timeout of a request.
	defaultTimeout = 5 * time.Second
)

// Load is requests of one kind.
type Load struct {
	// Name of the load.
	Name string
	// Rate is the number of requests per second. Default: 10.
	Rate float64
	// Timeout of one request. Default: 5 seconds.
	Timeout time.Duration
	// Send sends the n-th request, from 0. It is called from several goroutines.
	Send func(ctx context.Context, n int64) Answer
	// Clock for the rate of the requests.
	Clock clock.WithTicker
}

// Running is a load in progress.
type Running struct {
	load Load
	room chan struct{}
	stop chan struct{}
	// over is closed when all requests have ended.
	over chan struct{}

	mu       sync.Mutex
	requests []Request
	// leftOut are the times at which a request was not sent.
	leftOut []time.Time
	// stood are the times in which this process did not run.
	stood []standstill
	// wake is closed and replaced when a request ends.
	wake chan struct{}
	once sync.Once
}

// Start starts a load, which runs until Stop, or until the context ends.
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
	ticker, endWatch := l.Clock.NewTicker(l.interval()), r.watch()
	go func() {
		defer close(r.over)
		defer endWatch() // after the end of the last request
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

// interval is the time from one request to the next.
func (l Load) interval() time.Duration { return time.Duration(float64(time.Second) / l.Rate) }

// Next returns how long it may take from now on until another request was sent and has ended.
func (r *Running) Next() time.Duration { return r.load.interval() + r.load.Timeout }

func (r *Running) send(ctx context.Context, n int64) {
	defer func() { <-r.room }()
	limited, cancel := context.WithTimeout(ctx, r.load.Timeout)
	defer cancel()
	began := r.load.Clock.Now()
	answer := r.load.Send(limited, n)
	if ctx.Err() != nil || answer.Unsent {
		return // the run was stopped, or there was no request: the result says nothing
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, Request{Answer: answer, Began: began, Ended: r.load.Clock.Now()})
	close(r.wake)
	r.wake = make(chan struct{})
}

// leaveOut notes a request that was not sent, because too many others wait for their answers.
func (r *Running) leaveOut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leftOut = append(r.leftOut, r.load.Clock.Now())
}

// Answered waits until a request that was sent after the time is answered, as expected or not. It returns false if
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

// Stop ends the load, waits for outstanding answers, and returns the results.
func (r *Running) Stop() Record {
	r.once.Do(func() { close(r.stop) })
	<-r.over
	r.mu.Lock()
	defer r.mu.Unlock()
	return newRecord(r.load.Name, r.requests, r.leftOut, r.stood)
}

// good reports whether the request was answered as expected.
func (r Request) good() bool { return r.Outcome != Failed && !r.Unexpected }
