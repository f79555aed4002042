package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// pipe plays a story and returns the output.
func pipe(t *testing.T, st reporttest.Story, config terminal.Config) string {
	t.Helper()
	var out bytes.Buffer
	s := reporttest.Stage{Plan: reporttest.Plan(), Clock: clocktesting.NewFakeClock(reporttest.Began)}
	config.Out, config.Clock = &out, s.Clock
	s.Recorder = reports.NewRecorder(s.Plan, s.Clock, terminal.New(config))
	st.Play(&s)
	s.Wait(50)
	golden.Must(t, s.Finish())
	return out.String()
}

func TestTerminalPiped(t *testing.T) {
	for _, st := range reporttest.Stories() {
		t.Run(st.Name, func(t *testing.T) {
			// Width and Color are for a TTY only.
			config := terminal.Config{
				Unicode: true, Color: true, Report: "rehearse-report/junit.xml",
				Width: func() int { return 20 },
			}
			out := pipe(t, st, config)
			control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
			if i := strings.IndexFunc(out, control); i >= 0 {
				t.Errorf("a control character at %q", out[i:min(i+20, len(out))])
			}
			golden.Check(t, "testdata/"+st.Name+".txt", out)
		})
	}
}

func TestTerminalInASCII(t *testing.T) {
	out := pipe(t, reporttest.Stories()[1], terminal.Config{})
	if i := strings.IndexFunc(out, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 {
		t.Errorf("not ASCII: %q", out[i:])
	}
	for _, want := range []string{"\n+ service-name", "\nx ingress", "\n^ up: 1.34.4 -> 1.35.4"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestTerminalWithoutScenarios(t *testing.T) {
	var out bytes.Buffer
	clk := clocktesting.NewFakeClock(reporttest.Began)
	if err := reports.NewRecorder(nil, clk,
		terminal.New(terminal.Config{Out: &out, Clock: clk})).Finish(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "\nno scenarios  in 0ms\n" {
		t.Errorf("%q", got)
	}
}

func TestWhatTheEnvironmentWants(t *testing.T) {
	for _, c := range []struct {
		env            map[string]string
		unicode, color bool
	}{
		{map[string]string{}, false, true},
		{map[string]string{"LANG": "en_US.UTF-8"}, true, true},
		{map[string]string{"LANG": "C.utf8"}, true, true},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, false, true},
		{map[string]string{"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, true, true},
		{map[string]string{"NO_COLOR": "1"}, false, false},
		{map[string]string{"TERM": "dumb"}, false, false},
	} {
		get := func(name string) string { return c.env[name] }
		if u, color := terminal.UnicodeWanted(get), terminal.ColorWanted(get); u != c.unicode || color != c.color {
			t.Errorf("%v: unicode %t, color %t; want %t, %t", c.env, u, color, c.unicode, c.color)
		}
	}
}

// Without a live view, a growing percentage is printed only now and then, and a start prints nothing in its first
// seconds.
func TestProgressPiped(t *testing.T) {
	var out bytes.Buffer
	clk := clocktesting.NewFakeClock(reporttest.Began)
	shown := terminal.New(terminal.Config{Out: &out, Clock: clk})
	for i := range 25 {
		shown.Progress("fetching kube-apiserver 1.34.4: %d%% of 86.%d MB", 4*i, i)
		clk.Step(time.Second)
	}
	shown.Progress("fetching kube-apiserver 1.35.4: 0%%")
	for i := range 9 {
		shown.Progress("building kube-apiserver 1.35.4: %d packages compiled so far", 10*i)
		clk.Step(time.Second)
	}
	p := reporttest.Plan()
	r := reports.NewRecorder(p, clk, shown)
	r.StartTrackStep(p.Tracks[0], p.Tracks[0].Setup[0])
	shown.Progress("starting etcd")
	clk.Step(11 * time.Second)
	shown.Progress("waiting for\x1b[31m kube-apiserver\n")
	r.FinishTrackStep(p.Tracks[0], p.Tracks[0].Setup[0], reporttest.Passed)
	shown.Close()
	shown.Progress("after the end")
	shown.Say("this %s", "stays")
	if !strings.HasSuffix(out.String(), "\nthis stays\n") {
		t.Errorf("nothing stays at the end of:\n%s", out.String())
	}
	want := `fetching kube-apiserver 1.34.4: 0% of 86.0 MB
fetching kube-apiserver 1.34.4: 40% of 86.10 MB, about 15s left
fetching kube-apiserver 1.34.4: 80% of 86.20 MB, a few seconds left
fetching kube-apiserver 1.35.4: 0%
building kube-apiserver 1.35.4: 0 packages compiled so far
waiting for kube-apiserver
`
	if got, _, _ := strings.Cut(out.String(), "+ create"); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// screen is a terminal of a given width that understands what we write. It is safe for concurrent use.
type screen struct {
	mu       sync.Mutex
	columns  int
	rows     [][]rune
	row, col int
	problems []string
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text := string(p); text != ""; {
		if m := sequence.FindStringSubmatch(text); m != nil {
			s.control(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		s.put(r)
	}
	return len(p), nil
}

func (s *screen) control(arguments, command string) {
	switch command {
	case "m":
	case "A":
		n, _ := strconv.Atoi(arguments)
		if s.row -= n; s.row < 0 {
			s.problems = append(s.problems, "moved above the top")
			s.row = 0
		}
	case "J":
		s.grow()
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
	default:
		s.problems = append(s.problems, "control sequence "+command)
	}
}

func (s *screen) put(r rune) {
	switch {
	case r == '\r':
		s.col = 0
	case r == '\n':
		s.row, s.col = s.row+1, 0
		s.grow()
	case unicode.IsControl(r):
		s.problems = append(s.problems, fmt.Sprintf("control character %q", r))
	default:
		s.grow()
		line := s.rows[s.row]
		for len(line) <= s.col {
			line = append(line, ' ')
		}
		line[s.col] = r
		s.rows[s.row] = line
		if s.col++; s.col >= s.columns && s.columns > 0 {
			s.problems = append(s.problems, "a line as wide as the screen: "+string(line))
		}
	}
}

func (s *screen) grow() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := make([]string, 0, len(s.rows))
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	// The spinner's sign depends on the number of ticks.
	text := strings.Map(func(r rune) rune {
		if r >= 0x2800 && r <= 0x28FF {
			return '*'
		}
		return r
	}, strings.Join(lines, "\n"))
	return strings.TrimRight(text, "\n") + "\n"
}

// handTicker ticks when the test says so.
type handTicker struct{ ticks chan time.Time }

func (h handTicker) C() <-chan time.Time { return h.ticks }
func (h handTicker) Stop()               {}

type handClock struct {
	*clocktesting.FakeClock
	handTicker
}

func (h handClock) NewTicker(time.Duration) clock.Ticker { return h.handTicker }

// tick makes the view draw again: when the second tick is taken, the first drawing is complete.
func (h handClock) tick() {
	h.ticks <- time.Time{}
	h.ticks <- time.Time{}
}

func TestTerminalLive(t *testing.T) {
	var view strings.Builder
	out := &screen{columns: 72}
	s := reporttest.Stage{Plan: reporttest.Plan(), Clock: clocktesting.NewFakeClock(reporttest.Began)}
	clk := handClock{s.Clock, handTicker{make(chan time.Time)}}
	columns := 72
	shown := terminal.New(terminal.Config{
		Out: out, TTY: true, Width: func() int { return columns }, Unicode: true, Color: true, Report: "junit.xml",
		Clock: clk,
	})
	look := func(when string) {
		clk.tick()
		fmt.Fprintf(&view, "=== %s\n%s", when, out)
	}
	shown.Progress("fetching kube-apiserver 1.34.4: %d%%", 12)
	look("before the run")
	s.Recorder = reports.NewRecorder(s.Plan, s.Clock, shown)
	golden.Must(t, s.Start())
	s.StartTrackStep(s.Track(0), s.Track(0).Setup[0])
	shown.Progress("starting kube-apiserver, and %s", strings.Repeat("very ", 20))
	s.Wait(900)
	look("a cluster is being created")
	s.FinishTrackStep(s.Track(0), s.Track(0).Setup[0], reporttest.Passed)
	s.Begin(0, 0)
	s.Begin(0, 1)
	s.Step(0, 0, 0, 12, reporttest.Passed)
	second := s.Scenario(0, 1)
	s.StartStep(second, second.Steps[0], "")
	s.Wait(300)
	s.AttemptStep(second, second.Steps[0], "connection refused")
	look("one scenario tries again, the other waits")
	s.FinishStep(second, second.Steps[0], reporttest.Passed)
	for i := range 2 {
		s.StartStep(s.Scenario(0, i), s.Scenario(0, i).Steps[1], reporttest.GateOff)
	}
	s.StartTrackStep(s.Track(0), s.Track(0).Setup[1])
	s.Wait(1200)
	look("a transition")
	s.FinishTrackStep(s.Track(0), s.Track(0).Setup[1], reporttest.Passed)
	for i := range 2 {
		s.FinishStep(s.Scenario(0, i), s.Scenario(0, i).Steps[1], reporttest.Passed)
	}
	s.Step(0, 0, 2, 5, reporttest.Passed)
	s.End(0, 0, reports.Verdict{})
	s.Step(0, 1, 2, 70000, reporttest.FailedOutcome())
	s.End(0, 1, reports.Verdict{})
	look("both have ended")
	s.Interrupt()
	shown.Say("cluster %s is kept:\n export KUBECONFIG=kubeconfig", "track-1")
	look("interrupted")
	if len(out.problems) > 0 {
		t.Error(out.problems)
	}
	out.columns = 0 // the explanations may be wider
	golden.Must(t, s.Finish())
	shown.Close()
	fmt.Fprintf(&view, "=== the end\n%s", out)
	golden.Check(t, "testdata/live.txt", view.String())
	if len(out.problems) > 0 {
		t.Error(out.problems)
	}
}

// No line of the live view wraps at any width, because the view is erased by counting lines.
func TestTerminalNeverWraps(t *testing.T) {
	for columns := 1; columns < 130; columns++ {
		out := &screen{columns: columns}
		s := reporttest.Stage{Plan: reporttest.Plan(), Clock: clocktesting.NewFakeClock(reporttest.Began)}
		s.Plan.Tracks[0].Scenarios[0].Name = strings.Repeat("日本語", 20)
		clk := handClock{s.Clock, handTicker{make(chan time.Time)}}
		config := terminal.Config{Out: out, TTY: true, Width: func() int { return columns }, Clock: clk}
		s.Recorder = reports.NewRecorder(s.Plan, s.Clock, terminal.New(config))
		s.Begin(0, 0)
		s.Begin(0, 1)
		s.StartStep(s.Scenario(0, 0), s.Scenario(0, 0).Steps[0], "")
		s.StartTrackStep(s.Track(1), s.Track(1).Setup[0])
		clk.tick()
		if columns >= 24 && len(out.problems) > 0 {
			t.Errorf("%d columns: %q", columns, out.problems)
		}
		if columns < 24 && len(out.String()) > 1 {
			t.Errorf("%d columns are too few for a live view, but there is one: %s", columns, out)
		}
		golden.Must(t, s.Finish())
	}
}

// At the usual widths of terminals, no line at the end of a run is wider, except one without a space.
func TestTerminalAtWidths(t *testing.T) {
	for _, columns := range []int{60, 80, 200} {
		for _, st := range []string{"failed", "several", "cluster-broke"} {
			i := slices.IndexFunc(reporttest.Stories(), func(s reporttest.Story) bool { return s.Name == st })
			config := terminal.Config{
				TTY: true, Unicode: true, Report: "rehearse-report/report.html",
				Width: func() int { return columns },
			}
			out := pipe(t, reporttest.Stories()[i], config)
			// The live view is erased; the explanations come after it.
			out = out[strings.LastIndex(out, "\x1b[J")+len("\x1b[J"):]
			golden.Check(t, fmt.Sprintf("testdata/%s-%d.txt", st, columns), out)
			for _, line := range strings.Split(out, "\n") {
				if utf8.RuneCountInString(line) > columns && len(strings.Fields(line)) > 1 {
					t.Errorf("%d columns: %q", columns, line)
				}
			}
		}
	}
}

// The wanted value is green and the seen value is red, even in a wrapped line. The path of the report is a link.
func TestTerminalShowsDifferencesInColour(t *testing.T) {
	const green, red, end = "\x1b[32m", "\x1b[31m", "\x1b[0m"
	message := "Pod a is not as wanted\nspec.nodeName: wanted \"one of the many nodes\", is \"another\"\nspec.x: " +
		"must be absent, is 3\nmessage:\n  want contains \"a\"\n  got  \"b\""
	st := reporttest.Story{Name: "colours", Play: func(s *reporttest.Stage) {
		s.Begin(0, 0)
		s.Step(0, 0, 0, 10, reports.Outcome{Status: reports.Failed, Message: message})
		s.End(0, 0, reports.Verdict{})
	}}
	config := terminal.Config{
		TTY: true, Unicode: true, Color: true, Width: func() int { return 60 }, Report: "report.html",
		ReportLink: "file:///x/report.html",
	}
	out := pipe(t, st, config)
	for _, want := range []string{
		"    spec.nodeName: " + green + "wanted \"one of the many nodes\"" + end + ", " + red + "is" + end + "\n      " +
			red +
			"\"another\"" + end + "\n",
		"spec.x: " + green + "must be absent" + end + ", " + red + "is 3" + end + "\n",
		"      " + green + "want contains \"a\"" + end + "\n      " + red + "got  \"b\"" + end + "\n",
		"report: \x1b]8;;file:///x/report.html\x1b\\report.html\x1b]8;;\x1b\\\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%q", want, out)
		}
	}
	config.Color = false // NO_COLOR
	if out := pipe(t, st, config); strings.Contains(out, green) || strings.Contains(out, red) {
		t.Errorf("colours, though none are wanted: %q", out)
	}
}

func TestLinksWanted(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm-256color"}, false},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "6800"}, true},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "4800"}, false},
		{map[string]string{"TERM": "xterm-kitty"}, true},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, true},
		{map[string]string{"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"}, false},
		{map[string]string{"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"}, true},
		{map[string]string{"TERM": "dumb", "WT_SESSION": "1"}, false},
		{map[string]string{"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, false},
		{map[string]string{"TERM": "linux", "FORCE_HYPERLINK": "1"}, true},
		{map[string]string{}, false},
	} {
		if got := terminal.LinksWanted(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %t, want %t", c.env, got, c.want)
		}
	}
}

// As soon as something takes longer than five seconds, and a part of it has ended, the live view estimates the
// remaining time.
func TestTerminalEstimates(t *testing.T) {
	out := &screen{columns: 100}
	s := reporttest.Stage{Plan: reporttest.Plan(), Clock: clocktesting.NewFakeClock(reporttest.Began)}
	clk := handClock{s.Clock, handTicker{make(chan time.Time)}}
	shown := terminal.New(terminal.Config{
		Out: out, TTY: true, Width: func() int { return 100 }, Unicode: true, Clock: clk,
	})
	defer shown.Close()
	says := func(want string, is bool) {
		t.Helper()
		clk.tick()
		if strings.Contains(out.String(), want) != is {
			t.Errorf("%q: want %t in\n%s", want, is, out)
		}
	}
	shown.Progress("downloading kube-apiserver 1.34.4, 10 of 110 MB")
	s.Wait(2000)
	shown.Progress("downloading kube-apiserver 1.34.4, 20 of 110 MB")
	says(" left", false)
	s.Wait(8000)
	shown.Progress("downloading kube-apiserver 1.34.4, 60 of 110 MB")
	says("60 of 110 MB, a few seconds left", false)
	says("60 of 110 MB, about 10s left", true)
	s.Recorder = reports.NewRecorder(s.Plan, s.Clock, shown)
	golden.Must(t, s.Start())
	s.StartTrackStep(s.Track(0), s.Track(0).Setup[0])
	s.Wait(20000)
	says("20.0s, ", false)
	s.FinishTrackStep(s.Track(0), s.Track(0).Setup[0], reporttest.Passed)
	s.Begin(0, 0)
	s.Step(0, 0, 0, 1000, reporttest.Passed)
	says("0 of 3 scenarios  21.0s, about ", true)
	if len(out.problems) > 0 {
		t.Error(out.problems)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTerminalThatIsGone(t *testing.T) {
	clk := clocktesting.NewFakeClock(reporttest.Began)
	r := reports.NewRecorder(reporttest.Plan(), clk, terminal.New(terminal.Config{Out: brokenPipe{}, Clock: clk}))
	golden.Error(t, r.Finish(), "writing to the terminal: broken pipe")
}

// The heading of a failure, its word included, fits on the terminal.
func TestTerminalWrapsHeadings(t *testing.T) {
	var out bytes.Buffer
	at := reporttest.Began
	long := strings.TrimSpace(strings.Repeat("SomeGate=true ", 9))
	run := &reports.Run{
		Head: reports.Head{Started: at, Finished: at.Add(time.Second)},
		Tracks: []*reports.Track{{
			Name: "track-1", Setup: []*reports.Step{{
				Name: long, Verb: "create", Status: reports.Failed, Message: "it did not start", Started: at, Finished: at,
			}},
			Scenarios: []*reports.Scenario{{Name: "a", Status: reports.Skipped, Message: "it needs " + long}},
		}},
	}
	for _, color := range []bool{false, true} {
		out.Reset()
		shown := terminal.New(terminal.Config{
			Out: &out, TTY: true, Width: func() int { return 80 }, Color: color, Clock: clocktesting.NewFakeClock(at),
		})
		golden.Must(t, shown.Observe(reports.Event{Kind: reports.RunFinished, Run: run}))
		text := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out.String(), "")
		for line := range strings.SplitSeq(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("a line has %d columns: %s", n, line)
			}
		}
		for _, want := range []string{"SETUP FAILED  ", "SKIPPED  it needs", long} {
			if !strings.Contains(strings.ReplaceAll(text, "\n  ", " "), want) {
				t.Errorf("it lacks %q:\n%s", want, text)
			}
		}
	}
}

// Scenarios that are skipped count as done.
func TestTerminalCountsSkippedScenarios(t *testing.T) {
	out := &screen{columns: 80}
	clk := handClock{clocktesting.NewFakeClock(reporttest.Began), handTicker{make(chan time.Time)}}
	shown := terminal.New(terminal.Config{Out: out, TTY: true, Width: func() int { return 80 }, Clock: clk})
	defer shown.Close()
	run := &reports.Run{Head: reports.Head{Started: reporttest.Began}, Tracks: []*reports.Track{{
		Scenarios: []*reports.Scenario{
			{Name: "a", Status: reports.Passed}, {Name: "b", Status: reports.Skipped}, {Name: "c", Status: reports.NotRun},
		},
	}}}
	golden.Must(t, shown.Observe(reports.Event{Kind: reports.RunStarted, Run: run}))
	clk.tick()
	if want := "2 of 3 scenarios"; !strings.Contains(out.String(), want) {
		t.Errorf("it lacks %q:\n%s", want, out)
	}
}
