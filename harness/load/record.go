package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

// Record is the result of a load.
type Record struct {
	Name string
	// Began is when the first request was sent, and Ended when the last one was answered.
	Began, Ended time.Time
	// Sent is how many requests were sent. LeftOut is how many were not sent because too many others waited for answers.
	Sent, LeftOut int
	// Accepted, Rejected and Failed are the numbers of requests with these outcomes.
	Accepted, Rejected, Failed int
	// Outages are the times without an answer, and Longest the longest of them.
	Outages []Outage
	Longest time.Duration
	// Reasons why requests failed or had an unexpected answer, most frequent first.
	Reasons []Reason
	// Unexpected is how many requests were accepted or rejected, but should not have been.
	Unexpected int
	// StoodStill is how long this process did not run meanwhile. This time is not part of outages and response times.
	StoodStill time.Duration
	// Uncounted is how many requests failed while this process did not run: it is not known whether they would have
	// failed anyway. They count as not sent.
	Uncounted int
	// Missed is how many of those that were left out would have been sent during an outage.
	Missed int

	latencies []time.Duration
	stood     []standstill
}

// Outage is a time without an answer: from the last answer before a request failed to the first one after it.
type Outage struct {
	From, To time.Time
	// Open says that the outage lasted until the end.
	Open bool

	// stood is how long this process did not run meanwhile.
	stood time.Duration
}

// length is how long the API server did not answer, as far as this process could see.
func (o Outage) length() time.Duration { return o.To.Sub(o.From) - o.stood }

func (o Outage) contains(at time.Time) bool { return !at.Before(o.From) && !at.After(o.To) }

// Reason is why one or more requests failed or had an unexpected answer.
type Reason struct {
	Outcome     Outcome
	Text        string
	Count       int
	First, Last time.Time
}

func newRecord(name string, all []Request, leftOut []time.Time, stood []standstill) Record {
	all = slices.SortedStableFunc(slices.Values(all), func(a, b Request) int { return a.Ended.Compare(b.Ended) })
	requests := slices.DeleteFunc(slices.Clone(all), func(request Request) bool {
		return request.Outcome == Failed && stoodStill(stood, request.Began, request.Ended) > 0
	})
	r := Record{
		Name: name, Sent: len(requests), LeftOut: len(leftOut), Uncounted: len(all) - len(requests), stood: stood,
	}
	for _, s := range stood {
		r.StoodStill += s.To.Sub(s.From)
	}
	for i, request := range all {
		if i == 0 || request.Began.Before(r.Began) {
			r.Began = request.Began
		}
		r.Ended = request.Ended
	}
	reasons := map[string]*Reason{}
	for _, request := range requests {
		r.count(request)
		if request.good() {
			continue
		}
		key := fmt.Sprint(request.Outcome, cmp.Or(request.Alike, request.Text))
		if reasons[key] == nil {
			reasons[key] = &Reason{Outcome: request.Outcome, Text: request.Text, First: request.Ended}
		}
		reasons[key].Count++
		reasons[key].Last = request.Ended
	}
	for _, reason := range reasons {
		r.Reasons = append(r.Reasons, *reason)
	}
	slices.SortFunc(r.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.First.Compare(b.First), strings.Compare(a.Text, b.Text))
	})
	slices.Sort(r.latencies)
	r.findOutages(all)
	for _, at := range leftOut {
		if slices.ContainsFunc(r.Outages, func(o Outage) bool { return o.contains(at) }) {
			r.Missed++
		}
	}
	return r
}

func (r *Record) count(request Request) {
	switch request.Outcome {
	case Accepted:
		r.Accepted++
	case Rejected:
		r.Rejected++
	case Failed:
		r.Failed++
		return
	}
	if request.Unexpected {
		r.Unexpected++
	}
	r.latencies = append(r.latencies,
		request.Ended.Sub(request.Began)-stoodStill(r.stood, request.Began, request.Ended))
}

// findOutages finds the times between two answers in which requests were sent in vain. A request that fails by its own
// timeout ends long after that time, so what counts is the longest time without an answer while it was on its way.
func (r *Record) findOutages(requests []Request) {
	gaps := r.betweenAnswers(requests)
	out := make([]bool, len(gaps))
	for _, request := range requests {
		if request.Outcome != Failed {
			continue
		}
		longest, length := -1, time.Duration(-1)
		first := sort.Search(len(gaps), func(i int) bool { return !gaps[i].To.Before(request.Began) })
		for i := first; i < len(gaps) && !gaps[i].From.After(request.Ended); i++ {
			if d := gaps[i].length(); d > length {
				longest, length = i, d
			}
		}
		if longest >= 0 {
			out[longest] = true
		}
	}
	for i, gap := range gaps {
		if out[i] {
			r.Outages = append(r.Outages, gap)
			r.Longest = max(r.Longest, gap.length())
		}
	}
}

// betweenAnswers returns the times between two answers, and those before the first and after the last one.
func (r *Record) betweenAnswers(requests []Request) []Outage {
	var gaps []Outage
	answered := r.Began
	until := func(to time.Time, open bool) {
		gaps = append(gaps, Outage{From: answered, To: to, Open: open, stood: stoodStill(r.stood, answered, to)})
		answered = to
	}
	for _, request := range requests {
		if request.Outcome != Failed {
			until(request.Ended, false)
		}
	}
	until(r.Ended, true)
	return gaps
}

// Latency returns the maximum latency of the given percentage of answers; 0 without answers. 100 gives the slowest.
func (r Record) Latency(percent float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	i := int(math.Ceil(percent/100*float64(len(r.latencies)))) - 1
	return r.latencies[min(max(i, 0), len(r.latencies)-1)]
}

// String returns the record in one sentence.
func (r Record) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "load %q: %d sent in %s: %d accepted, %d rejected, %d failed", r.Name, r.Sent,
		round(r.Ended.Sub(r.Began)), r.Accepted, r.Rejected, r.Failed)
	if r.LeftOut > 0 {
		fmt.Fprintf(&b, ", %d not sent because %d others waited for an answer", r.LeftOut, inFlight)
	}
	if len(r.Outages) > 0 {
		fmt.Fprintf(&b, "; without an answer for %s", r.outages())
	}
	if len(r.latencies) > 0 {
		fmt.Fprintf(&b, "; answered after %s (p50), %s (p99), %s at most", round(r.Latency(50)), round(r.Latency(99)),
			round(r.Latency(100)))
	}
	if r.StoodStill > 0 {
		fmt.Fprintf(&b, "; this machine stood still for %s, and %d requests that failed meanwhile do not count",
			round(r.StoodStill), r.Uncounted)
	}
	return b.String()
}

// outages describes the longest outage, its time, and the number of outages.
func (r Record) outages() string {
	longest := slices.MaxFunc(r.Outages, func(a, b Outage) int { return cmp.Compare(a.length(), b.length()) })
	text := fmt.Sprintf("%s (from +%s on)", round(r.Longest), round(longest.From.Sub(r.Began)))
	if longest.Open {
		text += " until its end"
	}
	if n := len(r.Outages); n > 1 {
		text += fmt.Sprintf(", the longest of %d times", n)
	}
	return text
}

// mostReasons is the maximum number of reasons in Details.
const mostReasons = 5

// Details returns the reasons why requests failed or had an unexpected answer, one per line.
func (r Record) Details() []string {
	var lines []string
	for i, reason := range r.Reasons {
		if i == mostReasons {
			lines = append(lines, fmt.Sprintf("and %d other reasons", len(r.Reasons)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%d %s from +%s to +%s: %s", reason.Count, reason.Outcome,
			round(reason.First.Sub(r.Began)), round(reason.Last.Sub(r.Began)), reason.Text))
	}
	return lines
}

// String returns the outcome in lower case.
func (o Outcome) String() string {
	return [...]string{Failed: "failed", Accepted: "accepted", Rejected: "rejected"}[o]
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}
