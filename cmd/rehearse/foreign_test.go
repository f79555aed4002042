package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// documented is a YAML block of a page, by a line in it.
func documented(t *testing.T, page, line string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(block[1], line) {
			return block[1]
		}
	}
	t.Fatalf("%s has no YAML with %s", page, line)
	return ""
}

// A foreign program takes the place of a simulator, as it is documented: it is given what it needs, awaited, proven to
// serve, and judged.
func TestForeignProgram(t *testing.T) {
	needsClusters(t)
	definition := documented(t, "../../docs/leaderworkerset.md", "simulator, leaderworkerset")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "rehearse")); err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := command(t, "run", "--report-dir", t.TempDir(), "--system", "lws=process:"+file,
			"--focus", `lws-(shared-to-unique|leader-deleted) \[1.36\]`, "../../scenarios/leaderworkerset")
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("with the faults %q: exit code %d, want %d and %q:\n%s%s", c.faults, code, c.code, c.want, out, errs)
		}
	}
}

// foreign is what a page says of a program that is not ours, and what stands for the program here: our simulator, under
// its names and in its places.
type foreign struct {
	page string
	// files are the YAML blocks of the page, each by a line that only it has.
	files map[string]string
	// programs are shell scripts.
	programs map[string]string
	// definitions are copies of CustomResourceDefinitions.
	definitions map[string]string
	// focus is what of the commands is run: enough to see that they work.
	focus string
	// commands is how many there are on the page.
	commands int
}

// Every command of the pages about programs that are not ours runs as it is written, but for a --focus.
func TestForeignProgramsAsDocumented(t *testing.T) {
	needsClusters(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
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
				"KAI-Scheduler/deployments/kai-scheduler/crds/scheduling.run.ai_podgroups.yaml": "../../suites/kai/simulator/testdata/crd-crd.yaml",
				"KAI-older/deployments/kai-scheduler/crds/scheduling.run.ai_podgroups.yaml":     "../../suites/kai/simulator/testdata/crd-older.yaml",
			},
			focus: "kai-(mixed-case|stored-names-made-anew)", commands: 2,
		},
		"leaderworkerset": {
			page: "../../docs/leaderworkerset.md",
			files: map[string]string{
				"lws.yaml": "version: v0.10.0", "lws-before.yaml": "version: v0.3.0",
				"webhooks.yaml": "lws-mutating-webhook-configuration",
			},
			programs: map[string]string{"lws-manager": lws(""), "lws-manager-before": lws("before-kep-173")},
			definitions: map[string]string{
				"lws/config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml":             ours,
				"lws/config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml":           ours,
				"lws/config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsetrolescalers.yaml": ours,
				"lws-before/config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml":      ours,
			},
			focus: `lws-policy-default$|lws-policy-default \[1.36\]|lws-from-before-the-field`, commands: 3,
		},
	} {
		t.Run(name, func(t *testing.T) { f.test(t) })
	}
}

func (f foreign) test(t *testing.T) {
	commands := f.layOut(t)
	if len(commands) != f.commands {
		t.Fatalf("%s has %d commands with a process, want %d: %q", f.page, len(commands), f.commands, commands)
	}
	for _, text := range commands {
		var args []string
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(text, -1)[1:] {
			args = append(args, strings.Trim(word, "'"))
		}
		code, out, errs := command(t, append(args, "--focus", f.focus, "--report-dir", t.TempDir())...)
		// A conformance run that is not given the older version leaves core requirements untested, and nothing else is wrong
		// with it.
		want, says := cli.ExitOK, "0 failed"
		if args[0] == "conformance" && !regexp.MustCompile(`--system \w+/`).MatchString(text) {
			want, says = cli.ExitBroken, "which is not given"
		}
		if code != want || !strings.Contains(out, says) || !strings.Contains(out, " passed, 0 failed  in ") {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", text, code, want, says, out, errs)
		}
	}
}

// layOut makes the folder that the page describes the current one, and returns the page's commands that run the
// program.
func (f foreign) layOut(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, line := range f.files {
		write(name, documented(t, f.page, line), 0o600)
	}
	for name, script := range f.programs {
		write(name, "#!/bin/sh\n"+script+"\n", 0o700)
	}
	for name, source := range f.definitions {
		write(name, read(source), 0o600)
	}
	var commands []string
	for _, found := range regexp.MustCompile(`(?m)^    (rehearse .*=process:.*)$`).FindAllStringSubmatch(read(f.page),
		-1) {
		commands = append(commands, found[1])
	}
	library, err := filepath.Abs("../../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(library, filepath.Join(folder, "scenarios")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	return commands
}
