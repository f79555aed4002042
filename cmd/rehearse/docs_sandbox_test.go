package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

const (
	oneObject = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	// inOneNamespace has the kinds that the documents select.
	inOneNamespace = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n" +
		"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: shop}\n" +
		"---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a, namespace: shop}\n"
)

// sandbox has the texts of files that the readers of the documents have, under the names that the documents use:
// manifests, definitions of systems, and reports.
type sandbox map[string]string

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	ofReports := func(name string) string { return golden.Read(t, filepath.Join(repositoryRoot, "reports", name)) }
	run := ofReports("testdata/run-format-2.json")
	cells := regexp.MustCompile(`(?s)\s*"shard": \{.*?\},`).ReplaceAllString(
		golden.Read(t, filepath.Join(withCells(t, written(t, 1, nil)), "matrix.json")), "")
	files := sandbox{
		"manifests/a.yaml": inOneNamespace, "overlays/prod/a.yaml": oneObject,
		"overlays/prod/kustomization.yaml": "resources: [a.yaml]\n",
		"op.yaml":                          operatorFile, "op-2.yaml": strings.ReplaceAll(operatorFile, "v1", "v2"),
		"operator.yaml": operatorFile, "lws.yaml": strings.Replace(operatorFile, "name: op", "name: lws", 1),
		"my-scenario.yaml": scenario(""), "rehearse-report/scenarios/a.yaml": scenario(""),
		"known.yaml":    "known: []\n",
		"prod.capture":  golden.Read(t, smallCapture(t)),
		"main/run.json": run, "last/matrix.json": cells, "rehearse-report/matrix.json": cells,
		"good.yaml": ofReports("conformances/testdata/perfect.yaml"),
		"bad.yaml":  ofReports("conformances/testdata/mixed.yaml"),
	}
	for _, name := range []string{"rehearse-report", "shard-1/rehearse-report", "shard-2/rehearse-report"} {
		files[name+"/run.json"] = run
	}
	for n, name := range []string{"shard-1", "shard-2"} {
		dir := written(t, n+1, nil)
		files[name+"/run.json"] = golden.Read(t, filepath.Join(dir, "run.json"))
		files["job.log"] += logOf(t, name, dir)
	}
	return files
}

// stands replaces arguments, which are separated by zeros: what only a cluster, another machine or an earlier command
// could have made.
func stands() *strings.Replacer {
	return strings.NewReplacer(
		"--from-context\x00prod", "--capture\x00prod.capture", "--etcd-snapshot\x00backup.db", "--capture\x00prod.capture",
		"/tmp/newest/", "scenarios/", "/results/rehearse-UID/", "", "relaxed-service-name-validation.yaml", "my-scenario.yaml",
		"2021", "5311", // the enhancement of the recorded run
	)
}

// enter makes a folder with these files the current one. It also has what the documents use of this repository: as a
// copy where a command might change it, and otherwise as a link.
func (s sandbox) enter(t *testing.T, copied bool) {
	t.Helper()
	root, err := filepath.Abs(repositoryRoot)
	golden.Must(t, err)
	dir := t.TempDir()
	for name, text := range s {
		golden.Write(t, filepath.Join(dir, name), text)
	}
	for _, name := range []string{"scenarios", "examples", "docs"} {
		from, to := filepath.Join(root, name), filepath.Join(dir, name)
		if copied {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			err = os.Symlink(from, to)
		}
		golden.Must(t, err)
	}
	t.Chdir(dir)
}
