package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
)

const withSystem = ", systems: [{name: lws, simulated: {simulator: leaderworkerset}}]"

// run is the whole program under its usual name.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Execute(ctx, program.New("rehearse", builtin.All()), args, stdin, stdout, stderr)
}

func command(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// exits runs a command that must end with a code, and returns what it printed.
func exits(t testing.TB, want int, args ...string) (stdout string) {
	t.Helper()
	code, out, errs := command(t, args...)
	if code != want {
		t.Fatalf("%s: exit code %d, want %d:\n%s%s", args, code, want, out, errs)
	}
	return out
}

func TestSystemFlag(t *testing.T) {
	scenarioFile := file(t, scenario(withSystem))
	real := file(t, "name: real\nversion: \"7\"\nprocess: {command: [sh, -c, sleep 1000]}\n")
	fault := builtin.All().Simulators()["leaderworkerset"].Faults[0].Name
	for text, want := range map[string]string{
		"lws=faults:" + fault: "lws(simulated, as leaderworkerset, faults " + fault + ")",
		"lws=faults:":         "lws(simulated, as leaderworkerset)",
		"lws=process:" + real: "lws(process, 7)",
	} {
		code, out, errs := command(t, "plan", "--system", text, scenarioFile)
		if code != cli.ExitOK || !strings.Contains(out, want) {
			t.Errorf("--system %s: %d, no %q in\n%s%s", text, code, want, out, errs)
		}
	}
	for texts, want := range map[string]string{
		"lws/label=process:" + real: "it needs system lws, which is not given; leave the " +
			"scenario out",
		"lws=process:" + real + " lws/=process:" + real:        "system lws is given twice",
		"lws=process:" + real + " lws/label=manifests:" + real: "defines a system of kind process",
		"lws=faults:" + fault + " lws=process:" + real:         "is not simulated, and so has no faults to choose",
		"lws=liberties:no-such":                                `has no liberty "no-such"`,
		"lws=liberties:late=x":                                 "the seed of liberty late must be a number",
	} {
		args := []string{"plan"}
		for _, text := range strings.Fields(texts) {
			args = append(args, "--system", text)
		}
		if code, _, errs := command(t, append(args, scenarioFile)...); code != cli.ExitInput || !strings.Contains(errs, want) {
			t.Errorf("--system %s: %d, no %q in\n%s", texts, code, want, errs)
		}
	}
	both := []string{"plan", "--system", "lws=process:" + real, "--system", "lws/label=process:" + real, scenarioFile}
	if code, out, errs := command(t, both...); code != cli.ExitOK || !strings.Contains(out, "lws(process, 7)") {
		t.Errorf("%q: %d\n%s%s", both, code, out, errs)
	}
	for text, want := range map[string]string{
		"lws":                         "want NAME=process:FILE",
		"lws=process":                 "want NAME=process:FILE",
		"=faults:a":                   "want NAME=process:FILE",
		"lws=magic:x":                 `not "magic"`,
		"lws=faults:no-such":          `has no fault "no-such"`,
		"swl=faults:" + fault:         "no scenario has this system",
		"lws=process:nowhere":         "nowhere",
		"lws=manifests:" + real:       "defines a system of kind process",
		"lws=process:" + scenarioFile: `unknown field "apiVersion"`,
	} {
		code, _, errs := command(t, "plan", "--system", text, scenarioFile)
		if code != cli.ExitInput || !strings.Contains(errs, want) {
			t.Errorf("--system %s: %d, no %q in\n%s", text, code, want, errs)
		}
	}
}

// An error quotes servers and programs. It cannot control the terminal.
func TestErrorsHaveNoControlSequences(t *testing.T) {
	if code, _, errs := command(t, "run", "no\x1b]52;c;eA==\asuch.yaml"); code != cli.ExitInput ||
		strings.ContainsAny(errs, "\x1b\a") || !strings.Contains(errs, "nosuch.yaml") {
		t.Errorf("%d, %q", code, errs)
	}
}
