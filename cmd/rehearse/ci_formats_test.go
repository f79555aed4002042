package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

const ciFolder = "../../examples/ci"

// The parts of the formats that examples/ci uses, by the documentation of each system.
type (
	gitHub struct {
		Name        string               `json:"name"`
		On          string               `json:"on"`
		Permissions map[string]string    `json:"permissions"`
		Jobs        map[string]gitHubJob `json:"jobs"`
	}
	gitHubJob struct {
		RunsOn   string `json:"runs-on"`
		Needs    string `json:"needs"`
		If       string `json:"if"`
		Strategy struct {
			FailFast bool             `json:"fail-fast"`
			Matrix   map[string][]int `json:"matrix"`
		} `json:"strategy"`
		Steps []gitHubStep `json:"steps"`
	}
	gitHubStep struct {
		Uses string            `json:"uses"`
		With map[string]string `json:"with"`
		Run  string            `json:"run"`
		If   string            `json:"if"`
	}
	gitLab map[string]struct {
		Image    string   `json:"image"`
		Stage    string   `json:"stage"`
		When     string   `json:"when"`
		Parallel int      `json:"parallel"`
		Script   []string `json:"script"`
		// Variables and Cache keep the Kubernetes programs.
		Variables map[string]string `json:"variables"`
		Cache     struct {
			Key   string   `json:"key"`
			Paths []string `json:"paths"`
		} `json:"cache"`
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

// strictly reads YAML into a value, and rejects fields that the value does not have.
func strictly(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}

func ciFile(t *testing.T, name string) string {
	t.Helper()
	return golden.Read(t, filepath.Join(ciFolder, name))
}

// readGitHub reads a workflow. The parser follows YAML 1.1, in which a bare "on" is true.
func readGitHub(t *testing.T, name string) (w gitHub) {
	t.Helper()
	strictly(t, strings.Replace(ciFile(t, name), "\non:", "\n\"on\":", 1), &w)
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if (step.Run == "") == (step.Uses == "") {
				t.Errorf("%s: a step has either run or uses: %+v", name, step)
			}
			if step.Uses != "" && !regexp.MustCompile(`^actions/[a-z-]+@v\d+$`).MatchString(step.Uses) {
				t.Errorf("%s: GitHub finds no action %q", name, step.Uses)
			}
			if strings.HasPrefix(step.Uses, "actions/upload-artifact@") && step.If != "always()" {
				t.Errorf("%s: the report of a failed run is not kept", name)
			}
		}
	}
	return w
}

// commands returns what the steps of a job run.
func (j gitHubJob) commands() (all []string) {
	for _, step := range j.Steps {
		if step.Run != "" {
			all = append(all, step.Run)
		}
	}
	return all
}

// of returns the arguments of an action of a job.
func (j gitHubJob) of(action string) map[string]string {
	for _, step := range j.Steps {
		if strings.HasPrefix(step.Uses, "actions/"+action+"@") {
			return step.With
		}
	}
	return nil
}

func readGitLab(t *testing.T, name string) (jobs gitLab) {
	t.Helper()
	strictly(t, ciFile(t, name), &jobs)
	for key, job := range jobs {
		if job.Artifacts.When != "always" || len(job.Artifacts.Paths) != 1 {
			t.Errorf("%s: job %s does not keep the report of a failed run", name, key)
		}
		_, versions, fetches := strings.Cut(job.Script[0], " fetch ")
		if fetches && (job.Cache.Key != "rehearse-"+strings.ReplaceAll(versions, " ", "-") ||
			job.Variables["XDG_CACHE_HOME"] != "$CI_PROJECT_DIR/.cache" ||
			!slices.Equal(job.Cache.Paths, []string{".cache/rehearse"})) {
			t.Errorf("%s: job %s does not cache the versions %s that it fetches: %+v, %v", name, key, versions, job.Cache,
				job.Variables)
		}
	}
	return jobs
}

// readProw returns the command of a Prow job. The pod begins a program without a shell.
func readProw(t *testing.T, name string) []string {
	t.Helper()
	var jobs prow
	strictly(t, ciFile(t, name), &jobs)
	if len(jobs.Presubmits["my/repository"]) != 1 {
		t.Fatalf("%s: %+v", name, jobs)
	}
	return jobs.Presubmits["my/repository"][0].Spec.Containers[0].Command
}
