package ci

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// These are the formats that CI systems document. GitHub: "Workflow commands for GitHub Actions": a property has no
// comma, colon or end of line, and the text has no end of line. GitLab: "Unit test reports": an attachment is
// [[ATTACHMENT|path]] in system-out, relative to the project. Prow: the expressions of the lenses junit and html in
// the configuration of prow.k8s.io and of OpenShift's CI, and metadata.json, which pod-utils read.
var (
	gitHubError    = regexp.MustCompile(`^::error file=[^,:\r\n]+,line=[1-9][0-9]*,title=[^,:\r\n]+::[^\r\n]+$`)
	attachment     = regexp.MustCompile(`^\[\[ATTACHMENT\|[^|\[\]\r\n]+\]\]$`)
	prowJUnit      = regexp.MustCompile(`^artifacts(/.*/|/)junit.*\.xml$`)
	prowHTML       = regexp.MustCompile(`^artifacts/.*\.html$`)
	prowMetadataIs = regexp.MustCompile(`^artifacts/metadata\.json$`)
)

// An annotation is one command on one line, whatever the scenario's name and message are.
func TestAnnotationsAreWorkflowCommands(t *testing.T) {
	for _, text := range []string{"plain", "a, b: c", "two\nlines\r\n", "50% of it", "::error::no", "%0A", "é ✗"} {
		run := failing(1)
		s := run.Tracks[0].Scenarios[0]
		s.Name, s.Message, s.Steps[0].Message = text, text, text
		s.File, s.Steps[0].Position = "/src/project/a,b.yaml", "/src/project/a,b.yaml:12:5"
		lines := annotations(run, "/src/project")
		if len(lines) != 1 || !gitHubError.MatchString(lines[0]) {
			t.Errorf("%q: %q", text, lines)
		}
	}
}

func TestWhatProwFinds(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	for _, name := range []string{"junit.xml", "report.html", "run.json"} {
		golden.Write(t, filepath.Join(dir, name), "{}")
	}
	env := environment(map[string]string{"ARTIFACTS": filepath.Join(root, "artifacts"), "PROW_JOB_ID": "1"})
	golden.Must(t, Publish(failing(1), Report{Dir: dir}, env, &strings.Builder{}))
	files, err := filepath.Glob(filepath.Join(root, "artifacts", "*"))
	golden.Must(t, err)
	for lens, wanted := range map[string]*regexp.Regexp{"junit": prowJUnit, "html": prowHTML, "metadata": prowMetadataIs} {
		found := 0
		for _, file := range files {
			name, _ := filepath.Rel(root, file)
			if wanted.MatchString(filepath.ToSlash(name)) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("lens %s finds %d of %q, want 1", lens, found, files)
		}
	}
}

// Attachments are in the JUnit report in the form that GitLab and Jenkins look for.
func TestAttachmentsInJUnit(t *testing.T) {
	run := failing(1)
	run.Tracks[0].Scenarios[0].Artifacts = []string{"s/history.jsonl", "s/events.yaml"}
	for name, env := range map[string]map[string]string{
		"GitLab":  {"GITLAB_CI": "true", "CI_PROJECT_DIR": "/src/project"},
		"Jenkins": {"JENKINS_URL": "https://ci"},
	} {
		text, err := reports.JUnitAttaching(Attachments("/src/project/out", environment(env)))(run)
		golden.Must(t, err)
		found := 0
		for line := range strings.Lines(string(text)) {
			if _, rest, has := strings.Cut(strings.TrimSpace(line), "[[ATTACHMENT|"); has {
				found++
				if line = "[[ATTACHMENT|" + strings.TrimSuffix(rest, "</system-out>"); !attachment.MatchString(line) {
					t.Errorf("%s: %q", name, line)
				}
			}
		}
		if found != 2 {
			t.Errorf("%s finds %d attachments, want 2:\n%s", name, found, text)
		}
	}
}
