package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// linesOf returns the commands in the blocks of a page that match an expression, as a script. There must be so many.
func linesOf(t *testing.T, page, expression string, want int) string {
	t.Helper()
	all, _, err := commandsIn(page, golden.Read(t, filepath.Join(repositoryRoot, page)))
	golden.Must(t, err)
	var script []string
	for _, d := range all {
		if regexp.MustCompile(expression).MatchString(d.text) {
			script = append(script, d.text)
		}
	}
	if len(script) != want {
		t.Fatalf("%s has %d commands like %s, want %d: %q", page, len(script), expression, want, script)
	}
	return strings.Join(script, "\n")
}

// The commands that get and build programs that are not ours work, here with another repository at their addresses.
func TestForeignProgramsAreBuiltAsDocumented(t *testing.T) {
	upstream := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/foreign\n\ngo 1.26\n", "cmd/main.go": "package main\n\nfunc main() {}\n",
		"cmd/podgroupcontroller/main.go": "package main\n\nfunc main() {}\n",
		"config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml": golden.Read(t,
			"../../suites/leaderworkerset/api/leaderworkerset.x-k8s.io_leaderworkersets.yaml"),
	} {
		golden.Write(t, filepath.Join(upstream, name), text)
	}
	environment := []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=t", "EMAIL=t@example.com",
	}
	inShell(t, upstream, environment, "git init --quiet\ngit add .\ngit commit --quiet -m all\n"+
		"for tag in v0.17.0 v0.14.7 v0.10.0; do git tag $tag; done")
	environment = []string{"GIT_CONFIG_COUNT=2"}
	for i, name := range []string{"kai-scheduler/KAI-Scheduler", "kubernetes-sigs/lws"} {
		environment = append(environment, fmt.Sprintf("GIT_CONFIG_KEY_%d=url.file://%s.insteadOf", i, upstream),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=https://github.com/%s", i, name))
	}
	dir := t.TempDir()
	for page, commands := range map[string]int{"docs/kai.md": 4, "docs/leaderworkerset.md": 3} {
		inShell(t, dir, environment, linesOf(t, page, `^git |^\(cd |^sed `, commands))
	}
	for _, program := range []string{"kai-podgroupcontroller", "kai-podgroupcontroller-older", "lws-manager"} {
		if info, err := os.Stat(filepath.Join(dir, program)); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("no program: %v", err)
		}
	}
	before := golden.Read(t, filepath.Join(dir, "crd-before.yaml"))
	if strings.Contains(before, "networkConfig") || !strings.Contains(before, "\n              replicas:") {
		t.Error("the definition without the field has the field, or lacks the next one")
	}
}

// The copy of the library for a new version has the new version, and can be planned.
func TestLibraryOnANewVersionAsDocumented(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "newest")
	script := linesOf(t, "docs/development.md", "^(cp|sed) ", 2)
	inShell(t, repositoryRoot, nil, strings.ReplaceAll(script, "/tmp/newest", copied))
	for name, want := range map[string]bool{`"1.36"`: false, `"1.37"`: true} {
		found := exec.CommandContext(t.Context(), "grep", "-rqF", "--include=*.yaml", name, copied).Run() == nil
		if found != want {
			t.Errorf("the copy has %s: %t", name, found)
		}
	}
	exits(t, cli.ExitOK, "lint", filepath.Join(copied, "porch"))
}

// A cluster for experiments works as docs/clusters.md shows, and takes the Job that docs/ci.md creates on a cluster.
func TestClusterForExperimentsAsDocumented(t *testing.T) {
	needsClusters(t)
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("NOT RUN: kubectl is not installed")
	}
	cache, err := os.UserCacheDir()
	golden.Must(t, err)
	// Clusters that the user has keep their names.
	own := filepath.Join(t.TempDir(), "rehearse")
	golden.Must(t, os.Mkdir(own, 0o700))
	golden.Must(t, os.Symlink(filepath.Join(cache, "rehearse", "kubernetes"), filepath.Join(own, "kubernetes")))
	checkout := t.TempDir()
	golden.Write(t, filepath.Join(checkout, "scenarios", "a.yaml"), scenario(""))
	_, experiment, found := strings.Cut(golden.Read(t, "../../docs/clusters.md"), "### A cluster for experiments")
	if !found {
		t.Fatal("docs/clusters.md has no such section")
	}
	lines, _, err := commandsIn("docs/clusters.md", strings.Split(experiment, "\n## ")[0])
	if err != nil || len(lines) != 6 {
		t.Fatalf("%v, %v", lines, err)
	}
	var script strings.Builder
	script.WriteString("trap 'rehearse cluster delete >/dev/null 2>&1 || true' EXIT\n")
	for _, d := range lines {
		script.WriteString(d.text + "\n")
		if strings.HasPrefix(d.text, "kubectl ") {
			job := linesOf(t, "docs/ci.md", `^rehearse job .*> job\.yaml$|^kubectl (create|delete) `, 3)
			script.WriteString(job + "\n")
		}
	}
	out := inShell(t, checkout, []string{"XDG_CACHE_HOME=" + filepath.Dir(own)}, script.String())
	for _, want := range []string{
		"v1.35.", "Ready", "job.batch/rehearse created", `job.batch "rehearse" deleted`, "1.34.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}
