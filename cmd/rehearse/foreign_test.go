package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// documented returns the YAML block of a page that contains the line.
func documented(t *testing.T, page, line string) string {
	t.Helper()
	text := golden.Read(t, page)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
		if strings.Contains(block[1], line) {
			return block[1]
		}
	}
	t.Fatalf("%s has no YAML with %s", page, line)
	return ""
}

// A foreign program can replace a simulator as documented: the harness gives it what it needs, waits for it, checks
// that it serves, and judges it.
func TestForeignProgram(t *testing.T) {
	needsClusters(t)
	definition := documented(t, "../../docs/leaderworkerset.md", "simulator, leaderworkerset")
	program, err := os.Executable()
	golden.Must(t, err)
	folder := t.TempDir()
	golden.Must(t, os.Symlink(program, filepath.Join(folder, "rehearse")))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	file := filepath.Join(folder, "simulator.yaml")
	for _, c := range []struct {
		faults string
		code   int
		want   string
	}{
		{"", cli.ExitOK, "2 passed"},
		{"shared-service-dropped-when-unique", cli.ExitFailed, "lws-shared-to-unique [1.36]"},
	} {
		text := strings.Replace(definition, `"--faults="`, `"--faults=`+c.faults+`"`, 1)
		golden.Write(t, file, text)
		code, out, errs := command(t, "run", "--report-dir", t.TempDir(), "--system", "lws=process:"+file,
			"--focus", `lws-(shared-to-unique|leader-deleted) \[1.36\]`, "../../scenarios/leaderworkerset")
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("with the faults %q: exit code %d, want %d and %q:\n%s%s", c.faults, code, c.code, c.want, out, errs)
		}
	}
}

// foreign has what a page says about a program that is not ours. Our simulator stands in for the program, under its
// names and at its paths.
type foreign struct {
	page string
	// files has the YAML blocks of the page by file name; the value is a line that only this block has.
	files map[string]string
	// programs has shell scripts by file name.
	programs map[string]string
	// instead has programs that stand in for the page's program in one of its files, by file name: our simulator installs
	// its own definitions, so one program cannot stand in for the same program with another definition.
	instead map[string]string
	// definitions has the CustomResourceDefinitions to copy, by the name of the copy.
	definitions map[string]string
	// scenarios are regular expressions for those that the commands run, and fault is the fault that they try: enough to
	// show that they work.
	scenarios []string
	fault     string
	// commands is the number of commands on the page.
	commands int
}

// Every command of the pages about programs that are not ours runs as it is written, except for --focus, or --only if
// it tries faults: they select a few scenarios or one fault.
func TestForeignProgramsAsDocumented(t *testing.T) {
	needsClusters(t)
	program, err := os.Executable()
	golden.Must(t, err)
	kai := func(variant string) string {
		return fmt.Sprintf(`exec %s simulator kai "--kubeconfig=$KUBECONFIG" --host=127.0.0.1 --port=9443 "--cert-dir=$TMPDIR/k8s-webhook-server/serving-certs" --variant=%s`, program, variant)
	}
	lws := func(variant string) string {
		return fmt.Sprintf(`exec %s simulator leaderworkerset "--kubeconfig=$KUBECONFIG" "--host=$WEBHOOK_HOST" "--port=$WEBHOOK_PORT" "--cert-dir=$CERT_DIR" --variant=%s`, program, variant)
	}
	const ours = "../../suites/leaderworkerset/api/leaderworkerset.x-k8s.io_leaderworkersets.yaml"
	for name, f := range map[string]foreign{
		"kai": {
			page: "../../docs/kai.md",
			files: map[string]string{
				"kai.yaml": "version: v0.17.0", "kai-older.yaml": "version: v0.14.7",
				"webhooks.yaml": "kai-podgroup-validation-v2alpha2",
			},
			programs: map[string]string{"kai-podgroupcontroller": kai("both"), "kai-podgroupcontroller-older": kai("older")},
			definitions: map[string]string{
				"KAI-Scheduler/deployments/kai-scheduler/crds/scheduling.run.ai_podgroups.yaml": "../../suites/kai/api/scheduling.run.ai_podgroups.yaml",
				"KAI-older/deployments/kai-scheduler/crds/scheduling.run.ai_podgroups.yaml":     "../../suites/kai/simulator/testdata/crd-older.yaml",
			},
			scenarios: []string{"kai-mixed-case", "kai-stored-names-made-anew"},
			fault:     "trailing-dash-allowed", commands: 5,
		},
		"leaderworkerset": {
			page: "../../docs/leaderworkerset.md",
			files: map[string]string{
				"lws.yaml": "version: v0.10.0\n", "lws-before.yaml": "version: v0.10.0-before",
				"webhooks.yaml": "lws-mutating-webhook-configuration",
			},
			programs: map[string]string{"lws-manager": lws(""), "lws-manager-before": lws("before-kep-173")},
			instead:  map[string]string{"lws-before.yaml": "lws-manager-before"},
			definitions: map[string]string{
				"lws/config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml":             ours,
				"lws/config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml":           ours,
				"lws/config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsetrolescalers.yaml": ours,
				"crd-before.yaml": ours,
			},
			scenarios: []string{`lws-policy-default$`, `lws-policy-default \[1.36\]`, `lws-from-before-the-field`},
			fault:     "no-default-policy", commands: 7,
		},
	} {
		t.Run(name, func(t *testing.T) { f.test(t) })
	}
}

func (f foreign) test(t *testing.T) {
	commands := f.layOut(t)
	if len(commands) != f.commands {
		t.Fatalf("%s has %d commands, want %d: %q", f.page, len(commands), f.commands, commands)
	}
	for _, text := range commands {
		var args []string
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(text, -1)[1:] {
			args = append(args, strings.Trim(word, "'"))
		}
		if args[0] == "faults" {
			args = append(args, "--only", f.fault)
		} else {
			args = f.focus(t, args)
		}
		code, out, errs := command(t, append(args, "--report-dir", t.TempDir())...)
		want, says := f.outcome(args[0], text)
		if code != want || slices.ContainsFunc(says, func(s string) bool { return !strings.Contains(out, s) }) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", text, code, want, says, out, errs)
		}
	}
}

// focus returns the arguments with a --focus that selects the few scenarios, or those of them that the page's own
// --focus selects.
func (f foreign) focus(t *testing.T, args []string) []string {
	t.Helper()
	own := regexp.MustCompile("")
	if i := slices.Index(args, "--focus"); i >= 0 {
		own = regexp.MustCompile(args[i+1])
		args = slices.Delete(slices.Clone(args), i, i+2)
	}
	var few []string
	for _, pattern := range f.scenarios {
		if own.MatchString(strings.ReplaceAll(pattern, `\`, "")) {
			few = append(few, pattern)
		}
	}
	if few == nil {
		t.Fatalf("--focus %s selects none of %q", own, f.scenarios)
	}
	return append(args, "--focus", strings.Join(few, "|"))
}

// outcome returns the expected exit code of a command, and what its output must contain.
func (f foreign) outcome(verb, text string) (code int, says []string) {
	const green = " passed, 0 failed  in "
	switch {
	case verb == "faults":
		return cli.ExitOK, []string{"1 of 1 faults caught"}
	case verb == "conformance" && strings.Contains(text, "=process:") && !givesOlder.MatchString(text):
		// Core requirements stay untested, because the older version is not given. Everything else passes.
		return cli.ExitBroken, []string{"which is not given", " passed, 0 failed, 1 skipped  in "}
	default:
		return cli.ExitOK, []string{green}
	}
}

// givesOlder matches a command that gives the older version.
var givesOlder = regexp.MustCompile(`--system \w+/`)

// layOut creates the folder that the page describes, changes into it, and returns the page's commands.
func (f foreign) layOut(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	for name, line := range f.files {
		text := documented(t, f.page, line)
		if program := f.instead[name]; program != "" {
			text = regexp.MustCompile(`command: \[\./[a-z-]+`).ReplaceAllString(text, "command: [./"+program)
		}
		golden.Write(t, filepath.Join(folder, name), text)
	}
	for name, script := range f.programs {
		golden.Write(t, filepath.Join(folder, name), "#!/bin/sh\n"+script+"\n")
	}
	for name, source := range f.definitions {
		golden.Write(t, filepath.Join(folder, name), golden.Read(t, source))
	}
	var commands []string
	line := regexp.MustCompile(`(?m)^    (rehearse .*?)(?:  +#.*)?$`)
	for _, found := range line.FindAllStringSubmatch(golden.Read(t, f.page), -1) {
		commands = append(commands, found[1])
	}
	library, err := filepath.Abs("../../scenarios")
	golden.Must(t, err)
	golden.Must(t, os.Symlink(library, filepath.Join(folder, "scenarios")))
	t.Chdir(folder)
	return commands
}

// The JSONPath in docs/kai.md shows which profile a cluster's CustomResourceDefinition belongs to.
func TestWhichProfile(t *testing.T) {
	page := []byte(golden.Read(t, "../../docs/kai.md"))
	path := regexp.MustCompile(`(?m)^    kubectl get crd podgroups\.scheduling\.run\.ai -o jsonpath='(.*)'$`).FindSubmatch(page)
	if path == nil {
		t.Fatal("docs/kai.md does not say how to find the profile")
	}
	look := jsonpath.New("pattern").AllowMissingKeys(true)
	golden.Must(t, look.Parse(string(path[1])))
	for file, found := range map[string]bool{
		"api/scheduling.run.ai_podgroups.yaml": true, // of the profiles both and crd
		"simulator/testdata/crd-webhook.yaml":  false, "simulator/testdata/crd-older.yaml": false,
	} {
		text := []byte(golden.Read(t, "../../suites/kai/"+file))
		var definition map[string]any
		golden.Must(t, yaml.Unmarshal(text, &definition))
		var out strings.Builder
		golden.Must(t, look.Execute(&out, definition))
		if (out.Len() > 0) != found {
			t.Errorf("%s: got %q, want a pattern: %t", file, out.String(), found)
		}
	}
}
