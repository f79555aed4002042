package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

const ciPage = "../../docs/ci.md"

// blocks returns the code blocks of a page that are in a language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	text := golden.Read(t, page)
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Fatalf("%s has nothing in %s", page, language)
	}
	return all
}

// strictly reads YAML into a value, and rejects fields that the value does not have.
func strictly(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}

// The parts of the formats that docs/ci.md uses, by the documentation of each system.
type (
	gitHub struct {
		On   string `json:"on"`
		Jobs map[string]struct {
			RunsOn   string `json:"runs-on"`
			Needs    string `json:"needs"`
			If       string `json:"if"`
			Strategy struct {
				FailFast bool             `json:"fail-fast"`
				Matrix   map[string][]int `json:"matrix"`
			} `json:"strategy"`
			Steps []gitHubStep `json:"steps"`
		} `json:"jobs"`
	}
	gitHubStep struct {
		Uses string            `json:"uses"`
		With map[string]string `json:"with"`
		Run  string            `json:"run"`
		If   string            `json:"if"`
	}
	gitLab map[string]struct {
		Image     string   `json:"image"`
		Stage     string   `json:"stage"`
		When      string   `json:"when"`
		Parallel  int      `json:"parallel"`
		Script    []string `json:"script"`
		Artifacts struct {
			When    string            `json:"when"`
			Paths   []string          `json:"paths"`
			Reports map[string]string `json:"reports"`
		} `json:"artifacts"`
	}
	prow struct {
		Presubmits map[string][]struct {
			Name      string     `json:"name"`
			Decorate  bool       `json:"decorate"`
			AlwaysRun bool       `json:"always_run"`
			Spec      v1.PodSpec `json:"spec"`
		} `json:"presubmits"`
	}
)

// jobOf has the commands of a system's job, and the folder whose files the system keeps; "" if the run itself hands
// them over.
type jobOf struct {
	system   string
	commands []string
	kept     string
	junit    string
}

// documentedJobs reads the configurations of docs/ci.md as strictly as their systems do.
func documentedJobs(t *testing.T) []jobOf {
	t.Helper()
	parts := blocks(t, ciPage, "yaml")
	if len(parts) != 7 {
		t.Fatalf("%d configurations in YAML, want GitHub's, GitLab's, Prow's, the shards' of two, a Role, and its job", len(parts))
	}
	var hub gitHub
	// The parser follows YAML 1.1, in which a bare "on" is true.
	strictly(t, strings.Replace(parts[0], "on:", `"on":`, 1), &hub)
	github := jobOf{system: "GitHub"}
	for _, step := range hub.Jobs["rehearse"].Steps {
		switch {
		case (step.Run == "") == (step.Uses == ""):
			t.Errorf("a step of GitHub has either run or uses: %+v", step)
		case step.Run != "":
			github.commands = append(github.commands, step.Run)
		case !regexp.MustCompile(`^actions/[a-z-]+@v\d+$`).MatchString(step.Uses):
			t.Errorf("GitHub finds no action %q", step.Uses)
		case strings.HasPrefix(step.Uses, "actions/upload-artifact@"):
			github.kept = step.With["path"]
			if step.If != "always()" {
				t.Error("the report of a failed run is not kept")
			}
		case strings.HasPrefix(step.Uses, "actions/cache@"):
			for _, version := range regexp.MustCompile(`\d\.\d+`).FindAllString(step.With["key"], -1) {
				if !strings.Contains(parts[0], "fetch ") || !regexp.MustCompile(`fetch.* `+version).MatchString(parts[0]) {
					t.Errorf("the cache is named after version %s, which is not fetched", version)
				}
			}
		}
	}
	var lab gitLab
	strictly(t, parts[1], &lab)
	gitlab := jobOf{"GitLab", lab["rehearse"].Script, "", lab["rehearse"].Artifacts.Reports["junit"]}
	if lab["rehearse"].Artifacts.When != "always" || len(lab["rehearse"].Artifacts.Paths) != 1 {
		t.Errorf("the report of a failed run is not kept: %+v", lab)
	} else {
		gitlab.kept = lab["rehearse"].Artifacts.Paths[0]
	}
	var presubmits prow
	strictly(t, parts[2], &presubmits)
	ofProw := jobOf{system: "Prow"}
	for _, jobs := range presubmits.Presubmits {
		ofProw.commands = append(ofProw.commands, strings.Join(jobs[0].Spec.Containers[0].Command, " "))
	}
	return []jobOf{github, gitlab, jenkins(t), ofProw}
}

// stamped runs a build that knows its commit, so that a merge sees whether all shards have the same.
const stamped = "go run -buildvcs=true ./cmd/rehearse "

// The shards of docs/ci.md are of a program that knows its version, and find the same patches.
func TestInputOfTheDocumentedShards(t *testing.T) {
	parts := blocks(t, ciPage, "yaml")
	var hub gitHub
	strictly(t, strings.Replace(parts[3], "on:", `"on":`, 1), &hub)
	var lab gitLab
	strictly(t, parts[4], &lab)
	jobs := map[string][]string{"GitLab": lab["shard"].Script}
	for _, step := range hub.Jobs["shard"].Steps {
		if step.Run != "" {
			jobs["GitHub"] = append(jobs["GitHub"], regexp.MustCompile(`\$\{\{ [a-z.]+ \}\}`).ReplaceAllString(step.Run, "2"))
		}
	}
	if key := regexp.MustCompile(`key: rehearse-([0-9.-]+)`).FindStringSubmatch(parts[3]); key == nil ||
		!strings.Contains(parts[3], "fetch "+strings.ReplaceAll(key[1], "-", " ")+"\n") {
		t.Errorf("the cache of GitHub's shards is not named after what they fetch: %q", key)
	}
	for system, commands := range jobs {
		patches := 0
		for _, text := range commands {
			if !strings.HasPrefix(text, stamped) {
				t.Errorf("%s: %s: its version is (devel)", system, text)
			}
			command, err := takes(arguments(t, text))
			if err != nil {
				t.Errorf("%s: %s: %v", system, text, err)
				continue
			}
			if command.Name() == "fetch" { // with the newest patches, two shards might differ
				patches = len(regexp.MustCompile(`\b1\.\d+\.\d+\b`).FindAllString(text, -1))
				if patches != len(command.Flags().Args()) {
					t.Errorf("%s: %s: a version has no patch", system, text)
				}
			}
		}
		if patches == 0 {
			t.Errorf("%s fetches nothing before its shards: %q", system, commands)
		}
	}
}

// arguments returns the arguments of a rehearse command of the page.
func arguments(t *testing.T, command string) []string {
	t.Helper()
	command, _, _ = strings.Cut(command, "  #")
	command, _, _ = strings.Cut(command, " >>")
	for _, program := range []string{"go run ./cmd/rehearse ", stamped, "rehearse "} {
		if rest, found := strings.CutPrefix(strings.TrimSpace(command), program); found {
			return strings.Fields(rest)
		}
	}
	t.Fatalf("%q does not run rehearse", command)
	return nil
}

// takes returns the command that the arguments call, and an error if it does not accept its flags and arguments.
func takes(args []string) (*cobra.Command, error) {
	command, rest, err := program.New("rehearse", builtin.All()).Find(args)
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err == nil {
		err = command.ValidateArgs(command.Flags().Args())
	}
	return command, err
}

// Each job of docs/ci.md runs commands and files that exist, and keeps what the run writes.
func TestCIConfigurations(t *testing.T) {
	for _, job := range documentedJobs(t) {
		ran := false
		for _, text := range job.commands {
			args := arguments(t, text)
			command, err := takes(args)
			if err != nil {
				t.Errorf("%s: %s: %v", job.system, text, err)
				continue
			}
			if command.Name() != "run" {
				continue
			}
			ran = true
			dir := command.Flag("report-dir").Value.String()
			if job.kept != "" && dir != job.kept || job.junit != "" && job.junit != dir+"/junit.xml" {
				t.Errorf("%s keeps %q and shows %q, but the run writes into %q", job.system, job.kept, job.junit, dir)
			}
			for _, path := range command.Flags().Args() {
				if _, err := scenarios.Load([]string{filepath.Join("..", "..", path)}); err != nil {
					t.Errorf("%s: %v", job.system, err)
				}
			}
		}
		if !ran {
			t.Errorf("the job of %s runs no scenarios: %q", job.system, job.commands)
		}
	}
}

// The commands at the end of docs/ci.md do what the page says, on a recorded run.
func TestCICommands(t *testing.T) {
	page := golden.Read(t, ciPage)
	recorded, err := os.ReadFile(filepath.Join("..", "..", "reports", "testdata", "run-format-2.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, dir := range []string{"shard-1/rehearse-report", "shard-2/rehearse-report", "rehearse-report", "main"} {
		golden.Write(t, filepath.Join(dir, "run.json"), recorded)
	}
	_, rest, _ := strings.Cut(page, "## Reports of finished runs")
	said := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    (rehearse .*)$`).FindAllStringSubmatch(rest, -1) {
		args := arguments(t, m[1])
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

// The commands of GitHub's job succeed as the page has them, here with a single file of scenarios.
func TestCIJobRuns(t *testing.T) {
	needsClusters(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	job := documentedJobs(t)[0]
	t.Chdir(t.TempDir())
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(t.TempDir(), "summary.md"))
	for _, text := range job.commands {
		args := arguments(t, text)
		if args[0] == "fetch" {
			continue // it would get the newest patches; those in the cache are enough
		}
		if i := slices.Index(args, "scenarios/kubernetes"); i >= 0 {
			args[i] = filepath.Join(root, "scenarios", "kubernetes", "service-name-rollback.yaml")
		}
		exits(t, cli.ExitOK, args...)
	}
	summary, err := os.ReadFile(os.Getenv("GITHUB_STEP_SUMMARY"))
	if err != nil || !strings.Contains(string(summary), "1 passed") {
		t.Errorf("the job's summary: %v: %s", err, summary)
	}
	for _, name := range []string{"report.html", "junit.xml", "run.json"} {
		if _, err := os.Stat(filepath.Join(job.kept, name)); err != nil {
			t.Error(err)
		}
	}
}

// The jobs run each shard once, and the last job merges exactly these shards.
func TestShardsOfTheDocumentation(t *testing.T) {
	var hub gitHub
	strictly(t, strings.Replace(blocks(t, ciPage, "yaml")[3], "on:", `"on":`, 1), &hub)
	shards := hub.Jobs["shard"]
	numbers := shards.Strategy.Matrix["number"]
	var kept, merged []string
	for _, number := range numbers {
		for _, step := range shards.Steps {
			if step.Run == "" {
				continue
			}
			args := arguments(t, strings.ReplaceAll(step.Run, "${{ matrix.number }}", strconv.Itoa(number)))
			if args[0] == "fetch" {
				continue
			}
			if want := fmt.Sprintf("%d/%d", number, len(numbers)); args[1] != "--shard" || args[2] != want {
				t.Errorf("%s is run, want --shard %s", args, want)
			}
			plans(t, args)
		}
		kept = append(kept, fmt.Sprintf("shard-%d", number))
	}
	whole := hub.Jobs["rehearse"]
	for _, step := range whole.Steps {
		if args, found := strings.CutPrefix(step.Run, "go run ./cmd/rehearse merge "); found {
			merged = strings.Fields(strings.TrimSuffix(args, " -o rehearse-report"))
		}
	}
	if len(kept) < 2 || !slices.Equal(kept, merged) || whole.Needs != "shard" || whole.If != "always()" {
		t.Errorf("the shards leave %s; after %q %s is merged", kept, whole.Needs, merged)
	}
}

// plans runs rehearse plan for a shard's command.
func plans(t *testing.T, args []string) {
	t.Helper()
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return arg == "--report-dir" || strings.HasPrefix(arg, "shard-")
	})
	args[0] = "plan"
	args[len(args)-1] = filepath.Join("..", "..", args[len(args)-1])
	exits(t, cli.ExitOK, args...)
}

// GitLab's jobs run each shard once, and the last job merges all of them.
func TestShardsOfGitLab(t *testing.T) {
	var lab gitLab
	strictly(t, blocks(t, ciPage, "yaml")[4], &lab)
	shards, whole := lab["shard"], lab["rehearse"]
	var kept []string
	for n := 1; n <= shards.Parallel; n++ {
		args := arguments(t, strings.NewReplacer("$CI_NODE_INDEX", strconv.Itoa(n), "$CI_NODE_TOTAL",
			strconv.Itoa(shards.Parallel)).Replace(shards.Script[len(shards.Script)-1]))
		if want := fmt.Sprintf("%d/%d", n, shards.Parallel); args[2] != want || args[4] != fmt.Sprintf("shard-%d", n) {
			t.Errorf("%s is run, want shard %s", args, want)
		}
		kept = append(kept, args[4])
	}
	want := slices.Concat([]string{"merge"}, kept, []string{"-o", whole.Artifacts.Paths[0]})
	if args := arguments(t, whole.Script[0]); len(kept) < 2 || !slices.Equal(args, want) || whole.When != "always" {
		t.Errorf("%s is merged, want %s", args, want)
	}
	if shards.Artifacts.When != "always" || !slices.Equal(shards.Artifacts.Paths, []string{"shard-*"}) {
		t.Errorf("the shards keep %+v", shards.Artifacts)
	}
}

// The program accepts the commands of the section about Jobs and the command of Prow's job, and the Role is valid.
func TestJobsOfTheDocumentation(t *testing.T) {
	parts := blocks(t, ciPage, "yaml")
	var role rbacv1.Role
	strictly(t, parts[5], &role)
	if len(role.Rules) != 4 {
		t.Errorf("the role has %+v", role.Rules)
	}
	var presubmits prow
	strictly(t, parts[6], &presubmits)
	commands := []string{strings.Join(presubmits.Presubmits["my/repository"][0].Spec.Containers[0].Command, " ")}
	text := golden.Read(t, ciPage)
	for _, m := range regexp.MustCompile(`(?m)^    (rehearse job .*)$`).FindAllStringSubmatch(text, -1) {
		command, _, _ := strings.Cut(m[1], " > ")
		commands = append(commands, command)
	}
	if len(commands) != 7 {
		t.Errorf("%d commands", len(commands))
	}
	t.Chdir("../..")
	for _, command := range commands {
		args := slices.DeleteFunc(arguments(t, command), func(arg string) bool { return arg == "--apply" })
		out := exits(t, cli.ExitOK, args...)
		// The other commands read no files, or read them from a repository.
		wantsFiles := strings.Contains(command, " run scenarios") && !strings.Contains(command, " --git ")
		if hasFiles := strings.Contains(out, "kind: ConfigMap"); !strings.Contains(out, "kind: Job") ||
			hasFiles != wantsFiles {
			t.Errorf("%s: it prints %.300s", command, out)
		}
	}
}
