package porch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
)

var (
	configMaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	repositories = schema.GroupVersionResource{
		Group: "config.porch.kpt.dev", Version: "v1alpha1",
		Resource: "repositories",
	}
	packageRevisions = v1alpha1.GroupVersion.WithResource("packagerevisions")
)

// caseRepository is the repository of the cases' packages.
const caseRepository = "cases"

// Rules returns the rules for which cases can be drawn: the overlap of packages' paths.
func Rules() []cases.Rule {
	return []cases.Rule{{
		Name:   "package paths",
		Covers: []string{"PORCH-P60", "PORCH-P61", "PORCH-P62", "PORCH-P63", "PORCH-P64", "PORCH-P65", "PORCH-P66"},
		State: clusters.State{
			Version: "1.36", Systems: []clusters.System{{Name: simulator.Name, Simulated: &clusters.Simulated{}}},
		},
		Begin: beginPaths,
	}}
}

// drawPath draws a path of a few steps. No step contains a dash, because dashes separate the steps in the name of a
// revision's object.
func drawPath() *rapid.Generator[string] {
	step := rapid.SampledFrom([]string{"a", "b", "ab", "ba", "abc"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(step, 1, 4).Draw(t, "steps"), "/")
	})
}

// manyPaths is how many paths of existing packages are drawn. Paths that overlap others are left out.
const manyPaths = 12

// beginPaths creates packages that do not overlap each other.
func beginPaths(ctx context.Context, w cases.World) (cases.Draw, error) {
	if err := makeRepository(ctx, w); err != nil {
		return nil, err
	}
	var existing []string
	drawn := rapid.SliceOfN(drawPath(), manyPaths, manyPaths).Example(int(w.Seed)) //nolint:gosec // any number will do
	for _, path := range drawn {
		if slices.Contains(existing, path) || overlapping(path, existing) != "" {
			continue
		}
		object := &unstructured.Unstructured{Object: pathObject(path)}
		_, err := w.Client.Resource(packageRevisions).Namespace(w.Namespace).Create(ctx, object, metav1.CreateOptions{})
		switch writes.Judge(err, 0) {
		case writes.Accepted:
		case writes.Rejected:
			return nil, &cases.Disagreement{Case: pathCase(path, existing), Got: cases.Rejection(err)}
		default:
			return nil, fmt.Errorf("make package %s beside %s: %w", path, strings.Join(existing, ", "), err)
		}
		existing = append(existing, path)
	}
	return func(t *rapid.T) cases.Case { return pathCase(drawNew(t, existing), existing) }, nil
}

// drawNew draws a path without a package: any path, or one above, inside or beside an existing package.
func drawNew(t *rapid.T, existing []string) string {
	path := rapid.OneOf(drawPath(), rapid.Custom(func(t *rapid.T) string {
		near := rapid.SampledFrom(existing).Draw(t, "near")
		above := near[:max(strings.LastIndex(near, "/"), 0)]
		choices := []string{near + "/a", near + "a", strings.TrimPrefix(above+"/b", "/"), "a/" + near}
		if above != "" {
			choices = append(choices, above)
		}
		return rapid.SampledFrom(choices).Draw(t, "path")
	})).Filter(func(path string) bool { return !slices.Contains(existing, path) })
	return path.Draw(t, "path")
}

func pathCase(path string, existing []string) cases.Case {
	c := cases.Case{
		Input:    fmt.Sprintf("a package at %s, where there are %s", path, strings.Join(existing, ", ")),
		Resource: packageRevisions, Object: pathObject(path), Allowed: true,
	}
	switch other := overlapping(path, existing); {
	case other == "":
		c.Requirement, c.Shows = "PORCH-P64", accepting(path, existing)
		if len(c.Shows) > 0 {
			c.Requirement, c.Shows = c.Shows[0], c.Shows[1:]
		}
	case strings.HasPrefix(path, other) && !strings.Contains(other, "/"):
		c.Allowed, c.Requirement = false, "PORCH-P62"
	case strings.HasPrefix(path, other):
		c.Allowed, c.Requirement = false, "PORCH-P61"
	case !strings.Contains(path, "/"):
		c.Allowed, c.Requirement = false, "PORCH-P63"
	default:
		c.Allowed, c.Requirement = false, "PORCH-P60"
	}
	return c
}

// accepting returns the requirements by which a path that overlaps none must be accepted, those first that are easily
// violated.
func accepting(path string, existing []string) []string {
	parent := func(path string) string { return path[:max(strings.LastIndex(path, "/"), 0)] }
	var ids []string
	for _, rule := range []struct {
		id      string
		applies func(other string) bool
	}{
		{"PORCH-P65", func(other string) bool { return strings.HasPrefix(path, other) || strings.HasPrefix(other, path) }},
		{"PORCH-P66", func(other string) bool { return beginsWithLast(path, other) || beginsWithLast(other, path) }},
		{"PORCH-P64", func(other string) bool { return parent(path) == parent(other) }},
	} {
		if slices.ContainsFunc(existing, rule.applies) {
			ids = append(ids, rule.id)
		}
	}
	return ids
}

// beginsWithLast reports whether a path begins with the last element of another one, as a whole element.
func beginsWithLast(path, other string) bool {
	return strings.HasPrefix(path+"/", other[strings.LastIndex(other, "/")+1:]+"/")
}

// overlapping is the specification's rule. It returns the first package that is a parent or a child of the path,
// compared step by step, or "" if there is none.
func overlapping(path string, existing []string) string {
	steps := strings.Split(path, "/")
	for _, other := range existing {
		others := strings.Split(other, "/")
		shorter := min(len(steps), len(others))
		if len(steps) != len(others) && slices.Equal(steps[:shorter], others[:shorter]) {
			return other
		}
	}
	return ""
}

func pathObject(path string) map[string]any {
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "PackageRevision",
		"metadata": map[string]any{"name": caseRepository + "-" + strings.ReplaceAll(path, "/", "-") + "-v1"},
		"spec":     map[string]any{"repositoryName": caseRepository, "packageName": path, "workspaceName": "v1"},
	}
}

// gitServer says what the suite needs besides the implementation under test.
const gitServer = "publish the URL of a git server there, see \"A git server for Porch\" in " +
	"https://github.com/rehearse-dev/rehearse/blob/main/docs/conformance.md"

// readyInterval is the time between two checks of a repository, and readyTimeout is how long it may take to answer.
const (
	readyInterval = 50 * time.Millisecond
	readyTimeout  = 30 * time.Second
)

// makeRepository creates a repository on the git server whose URL the tester publishes, and waits until it answers.
func makeRepository(ctx context.Context, w cases.World) error {
	git, err := w.Client.Resource(configMaps).Namespace("porch-system").Get(ctx, "git", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("find the git server: %w; %s", err, gitServer)
	}
	url, ok, err := unstructured.NestedString(git.Object, "data", "url")
	if err != nil || !ok {
		return fmt.Errorf("find the git server: ConfigMap porch-system/git has no url; %s", gitServer)
	}
	client := w.Client.Resource(repositories).Namespace(w.Namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": repositories.GroupVersion().String(), "kind": "Repository",
		"metadata": map[string]any{"name": caseRepository},
		"spec": map[string]any{"type": "git", "git": map[string]any{"repo": fmt.Sprintf("%s/%s/%s.git", url, w.Namespace,
			caseRepository), "branch": "main"}},
	}}
	if _, err := client.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make a repository: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, readyInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		found, err := client.Get(ctx, caseRepository, metav1.GetOptions{})
		return err == nil && ready(found), err
	})
	if err != nil {
		return fmt.Errorf("wait until the repository answers: %w", err)
	}
	return nil
}

func ready(repository *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(repository.Object, "status", "conditions")
	return err == nil && slices.ContainsFunc(conditions, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["type"] == "Ready" && condition["status"] == "True"
	})
}
