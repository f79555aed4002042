package harness

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func resolveVerb() verb { return verb{run: runResolve, needs: always(clusters.AbilityDNS)} }

// runResolve asks the cluster's DNS until the answer is as expected or time is up.
func runResolve(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	server, ok := s.shared.cluster.(clusters.DNSServer)
	if !ok {
		return result{Outcome: lacking("resolve", s.shared.cluster)}
	}
	address, err := server.DNS(ctx)
	if err != nil {
		return failure(reports.Error, "start the DNS server of cluster %s: %v", s.shared.cluster.Name(), err)
	}
	question, err := newQuestion(*step.Resolve)
	if err != nil {
		return failure(reports.Error, "resolve: %v", err)
	}
	limited, cancel := context.WithTimeout(ctx, step.Resolve.Within.Or(s.timeout(step, s.shared.StepTimeout)))
	defer cancel()
	return repeat(limited, s.attempts(i), func() try {
		// A question has its own timeout: one that is asked near the end must not count as unanswered.
		return question.judge(question.ask(ctx, address))
	})
}

// queryTimeout is how long one question may wait for its answer.
const queryTimeout = 2 * time.Second

// question is what is asked and what is expected of the answer.
type question struct {
	name   string
	kind   uint16
	expect scenarios.ResolveExpect
	rcode  int
}

func newQuestion(r scenarios.Resolve) (question, error) {
	q := question{name: dns.Fqdn(r.Name), kind: dns.TypeA}
	if r.Type != "" {
		kind, ok := dns.StringToType[strings.ToUpper(r.Type)]
		if !ok {
			return q, fmt.Errorf("%q is not a type of DNS record", r.Type)
		}
		q.kind = kind
	}
	if _, ok := dns.IsDomainName(q.name); !ok {
		return q, fmt.Errorf("%q is not a domain name", r.Name)
	}
	if r.Expect != nil {
		q.expect = *r.Expect
	}
	if q.expect.Rcode != "" {
		rcode, ok := dns.StringToRcode[strings.ToUpper(q.expect.Rcode)]
		if !ok {
			return q, fmt.Errorf("%q is not a DNS response code", q.expect.Rcode)
		}
		q.rcode = rcode
	}
	return q, nil
}

// reply is what came back: an answer, or why there is none.
type reply struct {
	message *dns.Msg
	err     error
}

// ask asks once: by UDP, and by TCP when the answer does not fit.
func (q question) ask(ctx context.Context, address string) reply {
	message := new(dns.Msg)
	message.SetQuestion(q.name, q.kind)
	for _, network := range []string{"udp", "tcp"} {
		client := &dns.Client{Net: network, Timeout: queryTimeout}
		answer, _, err := client.ExchangeContext(ctx, message, address)
		if err != nil {
			return reply{err: fmt.Errorf("no answer by %s from %s: %w", network, address, err)}
		}
		if !answer.Truncated {
			return reply{message: answer}
		}
	}
	return reply{err: fmt.Errorf("the answer from %s is truncated, even over TCP", address)}
}

// judge compares a reply with what is expected. It decides nothing without an answer, or if the server answers that
// it could not tell.
func (q question) judge(r reply) try {
	asked := fmt.Sprintf("resolve %s %s", q.name, dns.TypeToString[q.kind])
	if r.err != nil {
		return try{undecided: true, problem: fmt.Sprintf("%s: %v", asked, r.err)}
	}
	data := q.data(r.message)
	seen := describeAnswer(r.message, dns.TypeToString[q.kind], data)
	t := try{evidence: seen, values: map[string]any{"answers": toList(data)}}
	if problems := q.problems(r.message, data); len(problems) > 0 {
		t.problem = fmt.Sprintf("%s: %s\nseen: %s", asked, strings.Join(problems, "; "), seen)
		t.undecided = r.message.Rcode != q.rcode && (r.message.Rcode == dns.RcodeServerFailure ||
			r.message.Rcode == dns.RcodeRefused)
	}
	return t
}

func (q question) problems(message *dns.Msg, data []string) []string {
	var problems []string
	if message.Rcode != q.rcode {
		return append(problems, fmt.Sprintf("wanted %s, got %s", dns.RcodeToString[q.rcode],
			dns.RcodeToString[message.Rcode]))
	}
	kind := dns.TypeToString[q.kind]
	if count := q.expect.Count; count != nil && !count.Holds(len(data), len(message.Answer)) {
		problems = append(problems, fmt.Sprintf("wanted %s %s records, got %d", describeCount(*count), kind, len(data)))
	}
	if q.expect.Count == nil && q.rcode == dns.RcodeSuccess && len(data) == 0 {
		problems = append(problems, fmt.Sprintf("expected at least one %s record, got none", kind))
	}
	for _, want := range q.expect.Answers {
		if !slices.ContainsFunc(data, func(got string) bool { return sameData(want, got) }) {
			problems = append(problems, fmt.Sprintf("expected %s among the answers", want))
		}
	}
	return problems
}

// data returns the data of the records of the requested type.
func (q question) data(message *dns.Msg) []string {
	data := []string{}
	for _, record := range message.Answer {
		if record.Header().Rrtype != q.kind && q.kind != dns.TypeANY {
			continue
		}
		if txt, ok := record.(*dns.TXT); ok {
			data = append(data, strings.Join(txt.Txt, ""))
			continue
		}
		data = append(data, strings.TrimPrefix(record.String(), record.Header().String()))
	}
	slices.Sort(data)
	return data
}

// sameData compares the data of records: addresses as addresses, names without regard to case and to a dot at the end.
func sameData(want, got string) bool {
	a, err1 := netip.ParseAddr(want)
	b, err2 := netip.ParseAddr(got)
	if err1 == nil && err2 == nil {
		return a == b
	}
	return strings.EqualFold(strings.TrimSuffix(want, "."), strings.TrimSuffix(got, "."))
}

// describeAnswer distinguishes a name that does not exist, one without records of the type, and a server that could not
// say.
func describeAnswer(message *dns.Msg, kind string, data []string) string {
	switch {
	case message.Rcode == dns.RcodeNameError:
		return "NXDOMAIN: the name does not exist"
	case message.Rcode == dns.RcodeServerFailure:
		return "SERVFAIL: the server could not answer"
	case message.Rcode != dns.RcodeSuccess:
		return dns.RcodeToString[message.Rcode]
	case len(data) == 0:
		return fmt.Sprintf("NODATA: the name exists (NOERROR), but has no %s records", kind)
	}
	records := fmt.Sprintf("%d %s records", len(data), kind)
	if len(data) == 1 {
		records = "1 " + kind + " record"
	}
	return fmt.Sprintf("NOERROR with %s: %s", records, strings.Join(data, ", "))
}

func describeCount(c scenarios.Count) string {
	switch {
	case c.All:
		return "only"
	case c.Min != nil && c.Max != nil && *c.Min == *c.Max:
		return fmt.Sprint(*c.Min)
	case c.Min != nil && c.Max != nil:
		return fmt.Sprintf("%d to %d", *c.Min, *c.Max)
	case c.Min != nil:
		return fmt.Sprintf("at least %d", *c.Min)
	case c.Max != nil:
		return fmt.Sprintf("at most %d", *c.Max)
	}
	return "any number of"
}

func toList(texts []string) []any {
	list := make([]any, 0, len(texts))
	for _, text := range texts {
		list = append(list, text)
	}
	return list
}
