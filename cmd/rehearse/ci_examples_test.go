package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// workflow is what a file of examples/ci does: the commands of each of its jobs, one after the other.
type workflow struct {
	file string
	jobs [][]string
	// kept is the folder whose files the system keeps; "" if the run itself hands them over.
	kept  string
	junit string
	// shards is the number of the first jobs that run shards.
	shards      int
	environment []string
}

// workflows reads all files of examples/ci that run scenarios, as strictly as their systems do.
func workflows(t *testing.T) []workflow {
	t.Helper()
	summary := filepath.Join(t.TempDir(), "summary.md")
	onGitHub := []string{"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + summary}
	hub := readGitHub(t, "github.yaml").Jobs["rehearse"]
	lab := readGitLab(t, "gitlab.yaml")["rehearse"]
	all := []workflow{
		{
			file: "github.yaml", jobs: [][]string{hub.commands()}, kept: hub.of("upload-artifact")["path"],
			environment: onGitHub,
		},
		{
			file: "gitlab.yaml", jobs: [][]string{lab.Script}, kept: lab.Artifacts.Paths[0],
			junit: lab.Artifacts.Reports["junit"],
		},
		jenkins(t),
		{file: "prow.yaml", jobs: [][]string{{strings.Join(readProw(t, "prow.yaml"), " ")}}},
	}

	hubJobs := readGitHub(t, "github-shards.yaml").Jobs
	shards := workflow{
		file: "github-shards.yaml", kept: hubJobs["rehearse"].of("upload-artifact")["path"], environment: onGitHub,
	}
	for _, number := range hubJobs["shard"].Strategy.Matrix["number"] {
		var commands []string
		for _, command := range hubJobs["shard"].commands() {
			commands = append(commands, strings.ReplaceAll(command, "${{ matrix.number }}", strconv.Itoa(number)))
		}
		shards.jobs = append(shards.jobs, commands)
	}
	shards.shards, shards.jobs = len(shards.jobs), append(shards.jobs, hubJobs["rehearse"].commands())
	if hubJobs["rehearse"].Needs != "shard" || hubJobs["rehearse"].If != "always()" {
		t.Errorf("%s: the last job is %+v", shards.file, hubJobs["rehearse"])
	}
	all = append(all, shards)

	labJobs := readGitLab(t, "gitlab-shards.yaml")
	shards = workflow{
		file: "gitlab-shards.yaml", shards: labJobs["shard"].Parallel, kept: labJobs["rehearse"].Artifacts.Paths[0],
		junit: labJobs["rehearse"].Artifacts.Reports["junit"],
	}
	for n := 1; n <= shards.shards; n++ {
		numbered := strings.NewReplacer("$CI_NODE_INDEX", strconv.Itoa(n), "$CI_NODE_TOTAL", strconv.Itoa(shards.shards))
		var commands []string
		for _, command := range labJobs["shard"].Script {
			commands = append(commands, numbered.Replace(command))
		}
		shards.jobs = append(shards.jobs, commands)
	}
	shards.jobs = append(shards.jobs, labJobs["rehearse"].Script)
	if labJobs["rehearse"].When != "always" || !slices.Equal(labJobs["shard"].Artifacts.Paths, []string{"shard-*"}) {
		t.Errorf("%s: %+v", shards.file, labJobs)
	}
	return append(all, shards)
}

// stamped runs a build that knows its commit, so that a merge sees whether all shards have the same.
const stamped = "go run -buildvcs=true ./cmd/rehearse "

// arguments returns the arguments of a command that runs rehearse.
func arguments(t *testing.T, command string) []string {
	t.Helper()
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

// The commands of each job are valid. The files that they name exist, and what the last one writes is kept.
func TestCommandsOfCI(t *testing.T) {
	for _, w := range workflows(t) {
		dir := ""
		for _, text := range slices.Concat(w.jobs...) {
			args := arguments(t, text)
			command, err := takes(args)
			if err == nil {
				err = filesExist(args)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", w.file, text, err)
				continue
			}
			for _, name := range []string{"report-dir", "output"} {
				if flag := command.Flag(name); flag != nil {
					dir = flag.Value.String()
				}
			}
		}
		if w.kept != "" && w.kept != dir || w.junit != "" && w.junit != dir+"/junit.xml" {
			t.Errorf("%s keeps %q and shows %q, but rehearse writes into %q", w.file, w.kept, w.junit, dir)
		}
	}
}

// Each shard runs once, with a program that knows its version and the same patches, and the last job merges all shards.
func TestShardsOfCI(t *testing.T) {
	found := 0
	for _, w := range workflows(t) {
		var kept []string
		for n, commands := range w.jobs[:w.shards] {
			found++
			for _, text := range commands {
				args := arguments(t, text)
				if !strings.HasPrefix(text, stamped) {
					t.Errorf("%s: %s: its version is (devel)", w.file, text)
				}
				if args[0] == "fetch" {
					if patches := regexp.MustCompile(`\b1\.\d+\.\d+\b`).FindAllString(text, -1); len(patches) != len(args)-1 {
						t.Errorf("%s: %s: a version has no patch", w.file, text)
					}
					continue
				}
				kept = append(kept, "shard-"+strconv.Itoa(n+1))
				want := []string{"run", "--shard", strconv.Itoa(n+1) + "/" + strconv.Itoa(w.shards), "--report-dir", kept[n]}
				if len(args) < len(want) || !slices.Equal(args[:len(want)], want) {
					t.Errorf("%s: %q is run, want %q", w.file, args, want)
				}
			}
		}
		if w.shards > 0 {
			want := slices.Concat([]string{"merge"}, kept, []string{"-o", w.kept})
			if args := arguments(t, w.jobs[w.shards][0]); len(kept) < 2 || !slices.Equal(args, want) {
				t.Errorf("%s: %q is merged, want %q", w.file, args, want)
			}
		}
	}
	if found != 6 {
		t.Errorf("%d shards", found)
	}
}

// The caches of GitHub's jobs are named after the versions that they fetch.
func TestCachesOfCI(t *testing.T) {
	for name, job := range map[string]string{"github.yaml": "rehearse", "github-shards.yaml": "shard"} {
		job := readGitHub(t, name).Jobs[job]
		versions := strings.ReplaceAll(strings.TrimPrefix(job.of("cache")["key"], "rehearse-"), "-", " ")
		if fetch := job.commands()[0]; versions == "" || !strings.HasSuffix(fetch, " fetch "+versions) {
			t.Errorf("%s: the cache is named after %q, and this fetches: %s", name, versions, fetch)
		}
	}
}

// Each workflow succeeds in a shell, with its commands as they are, in a checkout that has only one file of scenarios.
func TestCIRuns(t *testing.T) {
	needsClusters(t)
	file := filepath.Join("scenarios", "kubernetes", "ingress-backend.yaml")
	one := golden.Read(t, filepath.Join(repositoryRoot, file))
	for _, w := range workflows(t) {
		t.Run(w.file, func(t *testing.T) {
			checkout, report := t.TempDir(), w.kept
			golden.Write(t, filepath.Join(checkout, file), one)
			for _, commands := range w.jobs {
				script := strings.Join(commands, "\n")
				if w.file == "prow.yaml" { // Prow gives each job a /tmp of its own
					script = strings.Replace(script, "/tmp/report", "report", 1)
					report = "report"
				}
				inShell(t, checkout, w.environment, script)
			}
			for _, name := range []string{"report.html", "junit.xml"} {
				golden.Read(t, filepath.Join(checkout, report, name))
			}
			var run reports.Run
			golden.Must(t, json.Unmarshal([]byte(golden.Read(t, filepath.Join(checkout, report, "run.json"))), &run))
			passed := 0
			for _, track := range run.Tracks {
				for _, s := range track.Scenarios {
					if s.Status != reports.Passed {
						t.Errorf("%s is %s", s.Name, s.Status)
					}
					passed++
				}
			}
			if passed == 0 {
				t.Error("no scenario ran")
			}
			for _, variable := range w.environment {
				if file, found := strings.CutPrefix(variable, "GITHUB_STEP_SUMMARY="); found &&
					!strings.Contains(golden.Read(t, file), " passed") {
					t.Error("the summary of the job does not say what passed")
				}
			}
		})
	}
}

// inShell runs a script as a CI system does, with this program as rehearse and as go run ./cmd/rehearse, and returns
// its output. The versions in the cache are enough, so nothing is fetched.
func inShell(t *testing.T, dir string, environment []string, script string) string {
	t.Helper()
	own, err := os.Executable()
	golden.Must(t, err)
	goTool, err := exec.LookPath("go")
	golden.Must(t, err)
	programs := t.TempDir()
	golden.Write(t, filepath.Join(programs, "rehearse"), "#!/bin/sh\ntest \"$1\" != fetch || exit 0\n"+
		rehearseItself+"=1 exec "+own+" \"$@\"\n")
	golden.Write(t, filepath.Join(programs, "go"), `#!/bin/sh
test "$1" = run || exec `+goTool+` "$@"
shift
test "$1" != -buildvcs=true || shift
test "$1" = ./cmd/rehearse && shift && exec rehearse "$@"
`)
	bash := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	bash.Dir = dir
	bash.Env = append(os.Environ(), environment...)
	bash.Env = append(bash.Env, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v:\n%s", script, err, out)
	}
	return string(out)
}
