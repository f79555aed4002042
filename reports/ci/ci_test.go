package ci

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func failing(n int) *reports.Run {
	track := &reports.Track{Name: "track-1"}
	for range n {
		track.Scenarios = append(track.Scenarios, &reports.Scenario{
			Name: "a, b: c", File: "/src/project/x.yaml", Line: 3, Status: reports.Failed, Message: "50% of it\nfailed",
			Steps: []*reports.Step{{
				Name: "step", Verb: "create", Status: reports.Failed, Message: "50% of it\nfailed",
				Position: "/src/project/x.yaml:12:5",
			}},
		})
	}
	return &reports.Run{Tracks: []*reports.Track{track}}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestAnnotations(t *testing.T) {
	got := annotations(failing(12), "/src/project")
	if want := "::error file=x.yaml,line=12,title=a%2C b%3A c failed::50%25 of it"; len(got) != 10 || got[0] != want {
		t.Errorf("%d of %q", len(got), got)
	}
}

// A step may have another working directory than the workspace.
func TestPathInTheWorkspace(t *testing.T) {
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	golden.Must(t, err)
	golden.Write(t, filepath.Join(workspace, "deploy", "x.yaml"), "a")
	t.Chdir(filepath.Join(workspace, "deploy"))
	for file, want := range map[string]string{
		"x.yaml": filepath.Join("deploy", "x.yaml"), "elsewhere.yaml": "elsewhere.yaml", "/far/y.yaml": "/far/y.yaml",
		filepath.Join(workspace, "gone.yaml"): "gone.yaml",
	} {
		if got := inWorkspace(file, workspace); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	if got := inWorkspace("x.yaml", ""); got != "x.yaml" {
		t.Errorf("without a workspace: %s", got)
	}
}

func TestPublishOnGitHub(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.md")
	golden.Write(t, file, "# before\n")
	var out strings.Builder
	env := environment(map[string]string{"GITHUB_STEP_SUMMARY": file, "GITHUB_ACTIONS": "true"})
	golden.Must(t, Publish(failing(1), Report{Dir: t.TempDir()}, env, &out))
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "# before\n### Rehearse: 0 passed, 1 failed") ||
		!strings.HasPrefix(out.String(), "::error file=/src/project/x.yaml") {
		t.Errorf("%v: %s%s", err, text, out.String())
	}
}

// HandOver publishes reports that do not belong to a run, too.
func TestHandOver(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	golden.Write(t, filepath.Join(dir, "report.html"), "page")
	summary, artifacts := filepath.Join(root, "summary.md"), filepath.Join(root, "artifacts")
	env := environment(map[string]string{"GITHUB_STEP_SUMMARY": summary, "ARTIFACTS": artifacts, "PROW_JOB_ID": "1"})
	golden.Must(t, HandOver("### Exploration\n", Report{Dir: dir}, env))
	for path, want := range map[string]string{
		summary: "### Exploration\n", filepath.Join(artifacts, "rehearse-report.html"): "page",
	} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", path, text, err, want)
		}
	}
	if err := HandOver("x", Report{Dir: dir}, environment(nil)); err != nil {
		t.Errorf("outside of CI: %v", err)
	}
}

func TestCutStaysBelowTheLimitAndClosesWhatIsOpen(t *testing.T) {
	text := "### Title\n\n<details><summary>a</summary>\n\n```text\n" + strings.Repeat("a line of it\n", 100000) +
		"```\n\n</details>\n"
	got := cut(text, summaryLimit)
	if len(got) > summaryLimit || strings.Count(got, "```") != 2 || !strings.Contains(got, "</details>\n\n(Truncated") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-200:])
	}
	longer := strings.ReplaceAll(text, "```", "````") // the text of another explanation has a fence
	if got := cut(longer, summaryLimit); strings.Count(got, "````") != 2 || !strings.Contains(got, "\n````\n\n</details>") {
		t.Errorf("it ends with %q", got[len(got)-200:])
	}
	if cut("short", 10) != "short" || cut(text, 10) != "" {
		t.Error("what fits is kept, and where nothing fits nothing is written")
	}
}

func TestPublishOnProw(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "artifacts")
	for _, name := range []string{"junit.xml", "report.html"} {
		golden.Write(t, filepath.Join(dir, name), name)
	}
	env := environment(map[string]string{"ARTIFACTS": folder, "PROW_JOB_ID": "1"})
	golden.Must(t, Publish(failing(1), Report{Dir: dir}, env, &strings.Builder{}))
	golden.Write(t, filepath.Join(dir, "junit.xml"), "of another command")
	golden.Must(t, Publish(failing(1), Report{Dir: dir}, env, &strings.Builder{}))
	// Spyglass' JUnit lens looks for artifacts(/.*/|/)junit.*\.xml.
	for name, want := range map[string]string{
		"junit_rehearse.xml": "junit.xml", "rehearse-report.html": "report.html", "junit_rehearse-2.xml": "of another command",
	} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(text) != want {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
}

// Publish keeps what another program put into the job's metadata. All values that it adds are strings, as the lens
// requires.
func TestMetadataOnProw(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "metadata.json")
	golden.Write(t, path, `{"revision": "abc"}`)
	run := failing(2)
	run.Program, run.Command = "v1.2", "rehearse run x"
	run.Tracks[0].Path = []string{"1.34.4", "1.35.4 A=true"}
	env := environment(map[string]string{"ARTIFACTS": folder, "PROW_JOB_ID": "1"})
	golden.Must(t, Publish(run, Report{Dir: t.TempDir()}, env, &strings.Builder{}))
	var got map[string]string
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	want := map[string]string{
		"revision": "abc", "rehearse": "v1.2", "rehearse-result": "0 passed, 2 failed",
		"rehearse-states": "1.34.4 -> 1.35.4 A=true", "rehearse-command": "rehearse run x",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v: %v, want %v", err, got, want)
	}
	run.Command = "rehearse conformance porch kai"
	golden.Must(t, Publish(run, Report{Dir: t.TempDir(), Part: "porch"}, env, &strings.Builder{}))
	clear(got)
	golden.Must(t, json.Unmarshal([]byte(golden.Read(t, path)), &got))
	if got["rehearse-command"] != "rehearse run x" || got["rehearse-command-porch"] != run.Command {
		t.Errorf("the parts' commands: %q", got)
	}
	golden.Write(t, path, `no JSON`)
	golden.Error(t, Publish(run, Report{Dir: t.TempDir()}, env, &strings.Builder{}), path)
}

func TestAttachments(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"GitLab": {
			map[string]string{"GITLAB_CI": "true", "CI_PROJECT_DIR": "/src/project"},
			"[[ATTACHMENT|out/s/history.jsonl]]",
		},
		"GitLab, outside the project": {map[string]string{"GITLAB_CI": "true", "CI_PROJECT_DIR": "/other"}, ""},
		"Jenkins": {
			map[string]string{"JENKINS_URL": "https://ci"},
			"[[ATTACHMENT|/src/project/out/s/history.jsonl]]",
		},
	} {
		attach := Attachments("/src/project/out", environment(test.env))
		if got := attach("s/history.jsonl"); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if Attachments("/src/project/out", environment(nil)) != nil {
		t.Error("attachments without a CI system")
	}
}
