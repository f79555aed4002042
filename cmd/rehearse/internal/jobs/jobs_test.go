package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/api/core/v1"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// scenario writes some files into a new folder and changes into it.
func scenario(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"scenarios/one.yaml", "scenarios/deep/two.yaml", "scenarios/.git/config", "run.json"} {
		golden.Write(t, filepath.Join(dir, name), name)
	}
	t.Chdir(dir)
}

// execute runs the command with the arguments, as the program would.
func execute(t *testing.T, run Run, args ...string) (string, error) {
	t.Helper()
	command := Command(Program{
		Run: run,
		Paths: func(args []string) ([]string, error) {
			if args[0] == "faults" {
				return nil, nil
			}
			if args[0] != "run" {
				return nil, fmt.Errorf("no command %s", args[0])
			}
			return args[1:], nil
		},
		Referenced: func([]string) ([]string, error) { return nil, nil },
		Merge:      func(*cobra.Command, []string, string) error { return nil },
	})
	var out bytes.Buffer
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&out)
	command.SilenceUsage, command.SilenceErrors = true, true
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestPrintedJob(t *testing.T) {
	wd, err := os.Getwd()
	golden.Must(t, err)
	for file, args := range map[string]string{
		"job.yaml": "--image rehearse:1.0-k8s1.36 --completions 5 -- run scenarios",
		"in-image.yaml": "--image i --completions 2 --parallelism 1 --in-image --name mine -n ci --memory 4Gi -- run " +
			"/scenarios",
		"claim.yaml":    "--image i --completions 2 --results-claim reports -- faults kai --try",
		"no-files.yaml": "--image i --completions 2 --cpu-limit 1500m -- faults kai --try",
		"git.yaml": "--image i --completions 2 --git https://example.com/team/repository.git --ref v1.2.0 " +
			"--git-image example.com/git:2 -- run scenarios",
	} {
		scenario(t)
		out, err := execute(t, nil, strings.Fields(args)...)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		// Another version of Go may compress differently.
		out = regexp.MustCompile(`files.tar.gz: .+`).ReplaceAllString(out, "files.tar.gz: ARCHIVE")
		golden.Check(t, filepath.Join(wd, "testdata", file), out)
	}
}

// kubelet passes on the arguments as they were given. Only the variable of our own is replaced.
func TestDollarsInArguments(t *testing.T) {
	s := jobOf(1)
	s.claim = "reports"
	s.git = repository{"https://example.com/$(HOME)", "v1", "git"}
	s.command = []string{"run", "--only", "$(JOB_UID)|a$$|b$", "x"}
	pod, err := s.pod()
	golden.Must(t, err)
	want := []string{
		"job", "shard", "--of", "1", "--results", "/results/rehearse-$(JOB_UID)", "--", "run", "--only",
		"$$(JOB_UID)|a$$$$|b$$", "x",
	}
	if got := pod.Containers[0].Args; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := pod.InitContainers[1].Command; !slices.Contains(got, "https://example.com/$$(HOME)") {
		t.Errorf("git runs as %q", got)
	}
}

func TestRejectedJobs(t *testing.T) {
	scenario(t)
	for args, want := range map[string]string{
		"--completions 2 -- run scenarios":                         "--image: name the image",
		"--image i -- run scenarios":                               "--completions: want the number of shards",
		"--image i --completions 2 run scenarios":                  "after --",
		"--image i --completions 2":                                "after --",
		"--image i --completions 2 -- walk scenarios":              "no command walk",
		"--image i --completions 2 -- run elsewhere":               "elsewhere: there is no such file; with --in-image",
		"--image i --completions 2 -- run ../..":                   "only files below the current folder",
		"--image i --completions 2 --cpu much -- run scenarios":    "--cpu much",
		"--image i --completions 2 --memory much -- run scenarios": "--memory much",
		"--image i --completions 2 --cpu-limit much -- faults":     "--cpu-limit much",
		"--image i --completions 2 --cpu-limit 1m -- faults":       "--cpu-limit 1m is less than the request, --cpu 1",
		"--image i --completions 2 --ref v1 -- run scenarios":      "--ref and --git-image are for --git",
		"--image i --completions 2 --git https://e.com/r --ref v1 --git-image g --in-image -- run scenarios": "either in " +
			"the repository or in the image",
	} {
		if out, err := execute(t, nil, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q; it printed %s", args, err, want, out)
		}
	}
}

// runs returns a substitute for rehearse run: it stores its arguments, writes a report, and returns the exit code.
func runs(t *testing.T, got *[]string, code int) Run {
	return func(_ context.Context, args []string, stdout, _ io.Writer) int {
		*got = args
		fmt.Fprintln(stdout, "1 passed")
		dir := args[4]
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"tracks": []}`), 0o600); err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(args[5])
		if err != nil || string(data) != "scenarios/one.yaml" {
			t.Errorf("the run finds %q, %v", data, err)
		}
		return code
	}
}

// A pod runs its shard on the files of the ConfigMap, and prints the report unless it was interrupted.
func TestShardOfAPod(t *testing.T) {
	for code, reports := range map[int]int{cli.ExitOK: 1, cli.ExitFailed: 1, cli.ExitBroken: 1, cli.ExitInterrupted: 0} {
		scenario(t)
		data, err := packFiles([]string{"scenarios"})
		golden.Must(t, err)
		archive := filepath.Join(t.TempDir(), filesName)
		golden.Write(t, archive, data)
		t.Setenv("JOB_COMPLETION_INDEX", "1")
		var args []string
		out, err := execute(t, runs(t, &args, code), "shard", "--of", "3", "--files", archive, "--", "run",
			"scenarios/one.yaml")
		var exit *cli.ExitError
		if code == cli.ExitOK && err != nil || code != cli.ExitOK && (!errors.As(err, &exit) || exit.Code != code) {
			t.Errorf("exit code %d: %v", code, err)
		}
		if got := strings.Join(args, " "); !strings.HasPrefix(got, "run --shard 2/3 --report-dir ") {
			t.Errorf("it runs %s", got)
		}
		found, others := 0, 0
		var reader inlog.Reader
		for line := range strings.Lines(out) {
			ours, report, err := reader.Line(line)
			switch {
			case err != nil:
				t.Error(err)
			case report != nil:
				found++
			case !ours:
				others++
			}
		}
		if found != reports || others != 1 {
			t.Errorf("exit code %d: %d reports in the log, want %d: %s", code, found, reports, out)
		}
	}
}

// The report of a retried shard replaces that of its first attempt in the claim. It is in the log, too.
func TestReportInAClaim(t *testing.T) {
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	results := filepath.Join(t.TempDir(), "rehearse-uid")
	for _, name := range []string{"first", "second"} {
		wrote := func(_ context.Context, args []string, _, _ io.Writer) int {
			golden.Write(t, filepath.Join(args[4], "explore.json"), `{"kinds": []}`)
			golden.Write(t, filepath.Join(args[4], name), "")
			return cli.ExitBroken
		}
		out, err := execute(t, wrote, "shard", "--of", "2", "--results", results, "--", "explore")
		var exit *cli.ExitError
		if !errors.As(err, &exit) || exit.Code != cli.ExitBroken || out == "" {
			t.Errorf("%s: %v, and the log has %q", name, err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(results, "*", "*"))
	want := []string{filepath.Join(results, "shard-2", "explore.json"), filepath.Join(results, "shard-2", "second")}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("the claim has %s, %v", files, err)
	}
	golden.Write(t, filepath.Join(results, "file"), "")
	_, err = execute(t, nil, "shard", "--of", "2", "--results", filepath.Join(results, "file"), "--", "explore")
	golden.Error(t, err, "group 65532 must be able to write there")
}

// A finished report stays in the claim until another attempt has one, too: that attempt's pod may be killed.
func TestFinishedReportInAClaim(t *testing.T) {
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	results := t.TempDir()
	const planned, ended = `{"kinds": []}`, `{"kinds": [], "finished": "2026-03-04T05:06:07Z"}`
	for _, attempt := range []struct {
		name, report string
		code         int
		want         []string // what is in the claim then
	}{
		{"planned", planned, cli.ExitInterrupted, []string{"shard-2/planned"}},
		{"first", ended, cli.ExitBroken, []string{"shard-2/first"}},
		{"killed", planned, cli.ExitInterrupted, []string{"shard-2/first", "shard-2.new/killed"}},
		{"unfinished", planned, cli.ExitBroken, []string{"shard-2/first"}},
		{"interrupted", ended, cli.ExitInterrupted, []string{"shard-2/first", "shard-2.new/interrupted"}},
		{"last", ended, cli.ExitFailed, []string{"shard-2/last"}},
	} {
		wrote := func(_ context.Context, args []string, _, _ io.Writer) int {
			golden.Write(t, filepath.Join(args[4], "explore.json"), attempt.report)
			golden.Write(t, filepath.Join(args[4], attempt.name), "")
			return attempt.code
		}
		_, err := execute(t, wrote, "shard", "--of", "2", "--results", results, "--", "explore")
		golden.Error(t, err, fmt.Sprintf("exit code %d", attempt.code))
		var found []string
		for _, folder := range []string{"shard-2", "shard-2.new"} {
			files, err := filepath.Glob(filepath.Join(results, folder, "[^e]*"))
			golden.Must(t, err)
			for _, file := range files {
				found = append(found, folder+"/"+filepath.Base(file))
			}
		}
		if !slices.Equal(found, attempt.want) {
			t.Errorf("%s: the claim has %s, want %s", attempt.name, found, attempt.want)
		}
	}
}

// The planned run is in the log before anything runs: it is all that a pod leaves that is killed.
func TestPlannedRunOfAPod(t *testing.T) {
	t.Setenv("JOB_COMPLETION_INDEX", "0")
	dies := func(ctx context.Context, args []string, _, _ io.Writer) int {
		for _, text := range []string{`{"tracks": [], "provider": "planned"}`, `{"tracks": [], "provider": "later"}`} {
			golden.Write(t, filepath.Join(args[4], "run.json"), text)
			if err := cli.Planned(ctx); err != nil {
				t.Error(err)
			}
		}
		return cli.ExitInterrupted
	}
	out, err := execute(t, dies, "shard", "--of", "2", "--", "run", "scenarios")
	golden.Error(t, err, "exit code 130")
	var reader inlog.Reader
	var found []*inlog.Report
	for line := range strings.Lines(out) {
		if _, report, err := reader.Line(line); err != nil || report != nil {
			found = append(found, report)
		}
	}
	if len(found) != 1 || found[0] == nil {
		t.Fatalf("found %d reports in %s", len(found), out)
	}
	dir := t.TempDir()
	golden.Must(t, found[0].Unpack(dir))
	if text := golden.Read(t, filepath.Join(dir, "run.json")); !strings.Contains(text, "planned") {
		t.Errorf("the report is %s", text)
	}
}

func TestShardOutsideOfAJob(t *testing.T) {
	for _, index := range []string{"", "3", "-1", "x"} {
		t.Setenv("JOB_COMPLETION_INDEX", index)
		if _, err := execute(t, nil, "shard", "--of", "3", "--", "run", "scenarios"); err == nil ||
			!strings.Contains(err.Error(), "runs in a pod of an Indexed Job") {
			t.Errorf("index %q: %v", index, err)
		}
	}
}

// Only an HTTPS address and a plain reference reach git, and nothing that git treats as an option or a program.
func TestRepositories(t *testing.T) {
	for _, c := range []struct {
		repository
		want string
	}{
		{repository{}, ""},
		{repository{"https://example.com/team/repository.git", "v1.2.0", "git"}, ""},
		{repository{"https://example.com/r", "feature/some-branch", "git"}, ""},
		{repository{"https://example.com/r", "0f3b5f0a9c", "git"}, ""},
		{repository{"https://example.com/r", "", "git"}, "--ref \"\": name the tag"},
		{repository{"https://example.com/r", "--upload-pack=x", "git"}, "--ref \"--upload-pack=x\""},
		{repository{"https://example.com/r", "a:b", "git"}, "--ref \"a:b\""},
		{repository{"https://example.com/r", "v1", ""}, "--git-image: name an image"},
		{repository{"https://me:secret@example.com/r", "v1", "git"}, "omit the user and the password"},
		{repository{"http://example.com/r", "v1", "git"}, "want https://HOST/PATH"},
		{repository{"ext::sh -c x", "v1", "git"}, "want https://HOST/PATH"},
		{repository{"--upload-pack=x", "v1", "git"}, "want https://HOST/PATH"},
		{repository{"", "", "git"}, "are for --git"},
	} {
		err := c.check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.repository, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("it tells the password: %v", err)
		}
	}
}

// whyNot names the init container that could not fetch the repository.
func TestWhyARepositoryIsMissing(t *testing.T) {
	pod := &v1.Pod{Status: v1.PodStatus{
		InitContainerStatuses: []v1.ContainerStatus{
			{Name: "git-init"},
			{Name: "git-fetch", State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
				Reason: "Error", ExitCode: 128,
			}}},
		},
		ContainerStatuses: []v1.ContainerStatus{{Name: containerName, State: v1.ContainerState{
			Waiting: &v1.ContainerStateWaiting{Reason: "PodInitializing"},
		}}},
	}}
	if got := whyNot(pod); got != "git-fetch: Error (exit code 128)" {
		t.Errorf("it says %q", got)
	}
}

// The log of a shard carries the result under the name that its command gave it. A shard without a result prints no
// report.
func TestResultsOfAPod(t *testing.T) {
	for name, text := range map[string]string{
		"faults.json": `{"suite": "gadgets", "trials": {}}`, "explore.json": `{"kinds": []}`, "": "",
	} {
		t.Setenv("JOB_COMPLETION_INDEX", "0")
		wrote := func(_ context.Context, args []string, _, _ io.Writer) int {
			if name == "" {
				return cli.ExitOK
			}
			if err := os.MkdirAll(args[4], 0o755); err != nil {
				t.Error(err)
			}
			for file, content := range map[string]string{name: text, "report.html": "<p>"} {
				if err := os.WriteFile(filepath.Join(args[4], file), []byte(content), 0o600); err != nil {
					t.Error(err)
				}
			}
			return cli.ExitOK
		}
		out, err := execute(t, wrote, "shard", "--of", "2", "--", "faults", "kai")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var reader inlog.Reader
		carried := ""
		for line := range strings.Lines(out) {
			_, report, err := reader.Line(line)
			if err != nil {
				t.Error(err)
			}
			if report == nil {
				continue
			}
			to := t.TempDir()
			if err := report.Unpack(to); err != nil {
				t.Error(err)
			}
			files, err := filepath.Glob(filepath.Join(to, "*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%s: it carries %s, %v", name, files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil || string(data) != text {
				t.Errorf("%s: it carries %q, %v", name, data, err)
			}
			carried = filepath.Base(files[0])
		}
		if carried != name {
			t.Errorf("it carries %q, want %q", carried, name)
		}
	}
}
