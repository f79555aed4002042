package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const ciPage = "../../docs/ci.md"

// docs/ci.md has no configurations: it and the README link each file of examples/ci.
func TestCIPageLinksItsExamples(t *testing.T) {
	page, index := golden.Read(t, ciPage), golden.Read(t, filepath.Join(ciFolder, "README.md"))
	if strings.Contains(page, "\n```") {
		t.Error("docs/ci.md has a block of code; put it into examples/ci")
	}
	files, err := os.ReadDir(ciFolder)
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if name := file.Name(); name != "README.md" && (!strings.Contains(page, "](../examples/ci/"+name+")") ||
			!strings.Contains(index, "]("+name+")")) {
			t.Errorf("docs/ci.md or examples/ci/README.md has no link to %s", name)
		}
	}
}

// The commands at the end of docs/ci.md do what the page says, on a recorded run.
func TestCICommands(t *testing.T) {
	_, rest, _ := strings.Cut(golden.Read(t, ciPage), "## Reports of finished runs")
	newSandbox(t).enter(t, false)
	t.Setenv("GITHUB_STEP_SUMMARY", "summary.md")
	said := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    (rehearse .*)$`).FindAllStringSubmatch(rest, -1) {
		args := simpleCommands(comment.ReplaceAllString(m[1], ""))[0][1:]
		said[args[1]] = exits(t, cli.ExitOK, args...)
	}
	for name, want := range map[string]string{
		"html": "report: report.html", "markdown": "### Rehearse", "diff": "",
		"prr": "###### How can this feature be enabled",
	} {
		if text, found := said[name]; !found || !strings.Contains(text, want) {
			t.Errorf("rehearse report %s: it is there: %t; it says %q, want %q", name, found, text, want)
		}
	}
}

// The commands of docs/ci.md about Jobs and that of Prow's job print a Job. It has a ConfigMap if it needs files.
func TestJobsOfTheDocumentation(t *testing.T) {
	commands := [][]string{readProw(t, "prow-shards.yaml")[1:]}
	line := regexp.MustCompile(`(?m)^    (rehearse job .*)$`)
	for _, m := range line.FindAllStringSubmatch(golden.Read(t, ciPage), -1) {
		commands = append(commands, simpleCommands(m[1])[0][1:])
	}
	if len(commands) != 7 {
		t.Errorf("%d commands", len(commands))
	}
	t.Chdir("../..")
	for _, args := range commands {
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--apply" })
		out := exits(t, cli.ExitOK, args...)
		// The other commands read no files, or read them from a repository.
		wantsFiles := slices.Contains(args, "run") && !slices.Contains(args, "--git")
		if hasFiles := strings.Contains(out, "kind: ConfigMap"); !strings.Contains(out, "kind: Job") ||
			hasFiles != wantsFiles {
			t.Errorf("%s: it prints %.300s", args, out)
		}
	}
}

// The Role that a Job needs is valid, and the ServiceAccount of Prow's job has it.
func TestRoleOfAJob(t *testing.T) {
	var role rbacv1.Role
	var account v1.ServiceAccount
	var binding rbacv1.RoleBinding
	parts := strings.Split(ciFile(t, "role.yaml"), "\n---\n")
	if len(parts) != 3 {
		t.Fatalf("%d objects", len(parts))
	}
	for i, into := range []any{&role, &account, &binding} {
		strictly(t, parts[i], into)
	}
	subject := rbacv1.Subject{Kind: "ServiceAccount", Name: account.Name}
	if len(role.Rules) != 4 || binding.RoleRef.Name != role.Name ||
		!slices.Equal(binding.Subjects, []rbacv1.Subject{subject}) ||
		!strings.Contains(ciFile(t, "prow-shards.yaml"), "serviceAccountName: "+account.Name+"\n") {
		t.Errorf("%+v %+v %+v", role, account, binding)
	}
}
