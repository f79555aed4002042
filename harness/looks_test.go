package harness_test

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
)

// dnsServer answers UDP and TCP on one port.
func dnsServer(t *testing.T, answer func(network string, question *dns.Msg) *dns.Msg) string {
	t.Helper()
	packets, listener := sockets(t)
	address := packets.LocalAddr().String()
	for network, server := range map[string]*dns.Server{"udp": {PacketConn: packets}, "tcp": {Listener: listener}} {
		server.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
			if reply := answer(network, question); reply != nil {
				_ = w.WriteMsg(reply)
			}
		})
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return address
}

// sockets listens on one port that is free for both UDP and TCP.
func sockets(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var err error
	for range 20 {
		var listener net.Listener
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			continue
		}
		var packets net.PacketConn
		if packets, err = net.ListenPacket("udp", listener.Addr().String()); err == nil {
			return packets, listener
		}
		_ = listener.Close()
	}
	t.Fatal(err)
	return nil, nil
}

func reply(question *dns.Msg, rcode int, records ...string) *dns.Msg {
	m := new(dns.Msg).SetRcode(question, rcode)
	for _, text := range records {
		record, err := dns.NewRR(text)
		if err != nil {
			panic(err)
		}
		m.Answer = append(m.Answer, record)
	}
	return m
}

// looked runs the steps of a scenario, and checks their statuses and the message of the last one.
func looked(t *testing.T, p *provider, steps, want, says string) {
	t.Helper()
	o := harness.Options{Environment: []string{"PATH=/usr/bin:/bin"}}
	s := find(t, ran(t, p, scenario("one", steps), o), "one")
	if got := statuses(s.Steps); got != want {
		t.Errorf("%s, want %s: %s", got, want, s.Message)
	}
	contains(t, s.Steps[len(s.Steps)-1].Message, says)
}

func TestResolve(t *testing.T) {
	one := func(rcode int, records ...string) func(int, string, *dns.Msg) *dns.Msg {
		return func(_ int, _ string, q *dns.Msg) *dns.Msg { return reply(q, rcode, records...) }
	}
	for name, test := range map[string]struct {
		step   string
		answer func(n int, network string, q *dns.Msg) *dns.Msg
		want   reports.Status
		says   string
	}{
		"an address": {
			`{name: web, within: 50ms}`, one(dns.RcodeSuccess, "web. 0 IN A 10.96.0.1"),
			reports.Passed, "",
		},
		"no such name": {
			`{name: web, within: 50ms}`, one(dns.RcodeNameError), reports.Failed,
			"NXDOMAIN: the name does not exist",
		},
		"no such name, ok": {
			`{name: web, within: 50ms, expect: {rcode: NXDOMAIN}}`,
			one(dns.RcodeNameError), reports.Passed, "",
		},
		"no data": {
			`{name: web, type: AAAA, within: 50ms}`, one(dns.RcodeSuccess), reports.Failed,
			"NODATA",
		},
		"could not answer": {
			`{name: web, within: 50ms}`, one(dns.RcodeServerFailure), reports.Error,
			"SERVFAIL",
		},
		"could not answer, with absence wanted": {
			`{name: web, within: 50ms, expect: {rcode: NXDOMAIN}}`,
			one(dns.RcodeServerFailure), reports.Error, "SERVFAIL",
		},
		"no answer": {
			`{name: web, within: 50ms, expect: {count: 0}}`,
			func(int, string, *dns.Msg) *dns.Msg { return nil }, reports.Error, "no answer",
		},
		"other type": {
			`{name: web, within: 50ms, expect: {count: 1}}`,
			one(dns.RcodeSuccess, "web. 0 IN CNAME x."), reports.Failed, "wanted 1 A records, got 0",
		},
		"among": {
			`{name: web, type: SRV, within: 50ms, expect: {answers: ["0 100 80 web.ns"]}}`,
			one(dns.RcodeSuccess, "web. 0 IN SRV 0 100 80 web.ns."), reports.Passed, "",
		},
		"not among": {
			`{name: web, within: 50ms, expect: {answers: [10.96.0.2]}}`,
			one(dns.RcodeSuccess, "web. 0 IN A 10.96.0.1"), reports.Failed, "expected 10.96.0.2",
		},
		"right in the end": {`{name: web}`, func(n int, _ string, q *dns.Msg) *dns.Msg {
			if n < 3 {
				return reply(q, dns.RcodeNameError)
			}
			return reply(q, dns.RcodeSuccess, "web. 0 IN A 10.96.0.1")
		}, reports.Passed, ""},
		"too long for udp": {`{name: web, within: 5s, expect: {count: 2}}`, func(_ int, network string, q *dns.Msg) *dns.Msg {
			if network == "udp" {
				m := reply(q, dns.RcodeSuccess)
				m.Truncated = true
				return m
			}
			return reply(q, dns.RcodeSuccess, "web. 0 IN A 10.96.0.1", "web. 0 IN A 10.96.0.2")
		}, reports.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int64
			p := &provider{dns: dnsServer(t, func(network string, q *dns.Msg) *dns.Msg {
				return test.answer(int(n.Add(1)), network, q)
			})}
			looked(t, p, "  - resolve: "+test.step+"\n", string(test.want), test.says)
		})
	}
}

func TestMetric(t *testing.T) {
	const start = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 5\n"
	const restarted = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 6\n"
	requests := func(lines string) string { return "# TYPE requests_total counter\n" + lines }
	first := requests("requests_total{code=\"200\",verb=\"GET\"} 4\nrequests_total{code=\"200\",verb=\"PUT\"} " +
		"3\nrequests_total{code=\"422\"} 1\n")
	metric := func(name, rest string) string {
		return "  - name: " + name + "\n    metric: {name: requests_total" + rest + "}\n"
	}
	for name, test := range map[string]struct {
		steps string
		texts []string
		want  string
		says  string
	}{
		"sum": {metric("a", `, labels: {code: "200"}, expect: {value: 7}`), []string{first}, "passed", ""},
		"a quantile": {
			metric("a", `, labels: {quantile: "0.5"}, expect: {value: 3}`),
			[]string{"# TYPE requests_total summary\nrequests_total{quantile=\"0.5\"} 3\nrequests_total_sum 9\n"},
			"passed", "",
		},
		"a bucket": {
			strings.Replace(metric("a", `, labels: {le: "0.5"}, expect: {value: 3}`), "_total", "_bucket", 1),
			[]string{"# TYPE requests histogram\nrequests_bucket{le=\"0.5\"} 3\nrequests_bucket{le=\"+Inf\"} 4\n"},
			"passed", "",
		},
		"other value": {
			metric("a", `, labels: {code: "422"}, expect: {value: 0}`),
			[]string{first},
			"failed",
			"expected the value 0",
		},
		"exists": {metric("a", ""), []string{first}, "passed", ""},
		"absent": {
			metric("a", `, labels: {code: "500"}, expect: {value: 0}`),
			[]string{first},
			"failed",
			"absent is not zero",
		},
		"absent, wanted": {metric("a", `, labels: {code: "500"}, expect: {absent: true}`), []string{first}, "passed", ""},
		"there, not wanted": {
			metric("a", `, labels: {code: "422"}, expect: {absent: true}`),
			[]string{first},
			"failed",
			"expected no such series",
		},
		"delta": {
			metric("a", "") + metric("b", ", since: a, expect: {delta: 2}"),
			[]string{start + first, start + strings.Replace(first, "GET\"} 4", "GET\"} 6", 1)},
			"passed passed", "",
		},
		"delta since absent": {
			metric("a", `, labels: {code: "500"}, expect: {absent: true}`) + metric("b",
				`, labels: {code: "500"}, since: a, expect: {delta: 2}`),
			[]string{start + first, start + first + "requests_total{code=\"500\"} 2\n"},
			"passed passed", "",
		},
		"other delta": {
			metric("a", "") + metric("b", ", since: a, expect: {delta: 2}"),
			[]string{start + first, start + first},
			"passed failed", "expected the delta 2, got 0",
		},
		"restarted": {
			metric("a", "") + metric("b", ", since: a, expect: {delta: 0}"),
			[]string{start + first, restarted + first},
			"passed error", "restarted",
		},
		"restarted, gone": {
			metric("a", "") + metric("b", ", since: a, expect: {delta: 0}"),
			[]string{start + first, restarted},
			"passed error", "restarted",
		},
		"decreased": {
			metric("a", "") + metric("b", ", since: a, expect: {cel: \"delta < 0.0\"}"),
			[]string{first, requests("requests_total 1\n")},
			"passed error", "restarted",
		},
		"cel": {metric("a", ", expect: {cel: value > 7.0 && value < 9.0}"), []string{first}, "passed", ""},
		"cel of a case": {"  - name: a\n    cases: [{least: 7.5}]\n    metric: {name: requests_total, expect: " +
			"{cel: value > case.least}}\n", []string{first}, "passed", ""},
		"cel is false": {metric("a", ", expect: {cel: value > 8.0}"), []string{first}, "failed", "is false"},
		"in the end": {
			metric("a", ", within: 1h, expect: {value: 9}"),
			[]string{first, requests("requests_total 9\n")},
			"passed", "",
		},
		"unreadable at first": {
			metric("a", ", expect: {value: 9}"),
			[]string{"", requests("requests_total 9\n")},
			"passed",
			"",
		},
		"unreadable to the end": {strings.Replace(metric("a", ", expect: {absent: true}"), "metric:",
			"timeout: 10ms\n    metric:", 1), []string{""}, "error", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			p := &provider{metrics: func() (string, error) {
				text := test.texts[min(n, len(test.texts)-1)]
				n++
				if text == "" {
					return "", errors.New("connection refused")
				}
				return text, nil
			}}
			looked(t, p, test.steps, test.want, test.says)
		})
	}
}

func TestCommand(t *testing.T) {
	for name, test := range map[string]struct {
		step string
		want reports.Status
		says string
	}{
		"passes": {`{run: [sh, -c, "exit 0"]}`, reports.Passed, ""},
		"exit code": {
			`{run: [sh, -c, "echo no >&2; exit 3"]}`, reports.Failed,
			"expected exit code 0, got 3\nexit code 3\nstdout:\n  (nothing)\nstderr:\n  no",
		},
		"exit code wanted":      {`{run: [sh, -c, "exit 3"], expect: {exitCode: 3}}`, reports.Passed, ""},
		"environment":           {`{run: [sh, -c, "echo $KUBECONFIG $NAMESPACE $X"], env: {X: "${namespace}-x"}, expect: {stdout: {equals: "the-kubeconfig one one-x\n"}}}`, reports.Passed, ""},
		"the scenario's folder": {`{run: [sh, -c, "echo $0 $1 $X $SCENARIO_DIR; cat", $(SCENARIO_DIR)/a, $$(SCENARIO_DIR)], env: {X: $(SCENARIO_DIR)}, stdin: $(SCENARIO_DIR), expect: {stdout: {matches: '^/.*/harness/a \$\(SCENARIO_DIR\) /.*/harness /.*/harness\n/.*/harness$'}}}`, reports.Passed, ""},
		"a program beside the scenario": {
			`{run: [./no-such-program]}`, reports.Error,
			"harness/no-such-program: no such file",
		},
		"stdin": {`{run: [cat], stdin: hello, expect: {stdout: hello}}`, reports.Passed, ""},
		"other output": {
			`{run: [echo, a], expect: {stdout: b}}`, reports.Failed,
			`stdout does not contain "b"`,
		},
		"no shell": {`{run: [echo, "$NAMESPACE"], expect: {stdout: "$NAMESPACE"}}`, reports.Passed, ""},
		"no such program": {
			`{run: [no-such-program-anywhere], within: 1h}`, reports.Error,
			"no-such-program-anywhere",
		},
		"hangs": {`{run: [sleep, "3600"], within: 50ms}`, reports.Error, "did not exit in time"},
		"children hang": {
			`{run: [sh, -c, "sleep 3600 & echo started"], expect: {stdout: started}}`,
			reports.Passed, "",
		},
		"killed": {`{run: [sh, -c, "kill -9 $$"], expect: {exitCode: 137}}`, reports.Error, "killed"},
		"a lot": {
			`{run: [sh, -c, "head -c 3000000 /dev/zero | tr '\\0' x"], expect: {stdout: xx}}`,
			reports.Passed, "",
		},
		"a lot, of which nobody knows the end": {
			`{run: [sh, -c, "head -c 3000000 /dev/zero | tr '\\0' x"], expect: {stdout: {lacks: "y"}}}`,
			reports.Error, "stdout was cut after 1048576 bytes: it is unknown whether all of it lacks \"y\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			looked(t, &provider{}, "  - command: "+test.step+"\n", string(test.want), test.says)
		})
	}
}
