package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Wrong input for a matrix is rejected before anything starts.
func TestMatrixInput(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOPROXY", "off")
	with := file(t, scenario(withSystem))
	definition := file(t, "name: lws\nversion: v0.7.0\nmodule: {path: sigs.k8s.io/lws}\n")
	versioned := file(t, scenario(`, systems: [{name: lws, version: "1", process: {command: [sleep, "1000"]}}]`))
	unserved := file(t, "name: lws\nversion: v0.7.0\nmodule: {path: example.com/lws}\n")
	for args, want := range map[string]string{
		"":                                  "name a file, a folder or a glob of scenarios",
		with:                                "--system: want the name of a system",
		"--system lws " + with:              "--versions: name the versions of lws",
		"--system lws= " + with:             "--system: want the name of a system",
		"--system lws=no " + with:           "--system lws=no: ",
		"--versions 1,2 " + with:            "--system: want the name of a system",
		"--system a,b none.yaml ":           "--versions: name the versions of a,b",
		"diff one":                          "name two matrices",
		"diff no/such.json no.too":          "read a matrix: open no/such.json",
		"diff " + with + " " + with:         "read a matrix: ",
		"--system lws --versions 1 " + with: "--kubernetes: give at least one version",
		"--system lws --versions 1 --kubernetes 1.3x " + with:                                   `"1.3x": want a version of Kubernetes`,
		"--system lws --versions 1 --kubernetes 1.35 --repeat 0 " + with:                        "--repeat needs a number of runs",
		"--system lws --versions 1 --kubernetes 1.35 --repeat 2 --shard 1/2 " + with:            "--shard cannot be combined with --repeat",
		"--system lws --versions 1 --kubernetes 1.35.4 --shard 3/2 " + versioned:                "--shard: ",
		"--system lws --versions 1 --kubernetes 1.35 " + with:                                   "is the same at each version",
		"--system swl --versions 1 --kubernetes 1.35 " + with:                                   "it has no system swl",
		"--system lws --versions 1,1 --kubernetes 1.35 " + with:                                 "1 is given twice",
		"--system lws=" + definition + " --versions 0.7.0 --kubernetes 1.35.4 " + with:          `"0.7.0" is no exact version of a Go module`,
		"--system lws=" + unserved + " --versions v0.7.0 --kubernetes 1.35.4 " + with:           "prepare system lws: cannot build example.com/lws@v0.7.0: ",
		"--system lws --versions 1 --kubernetes 1.35 --focus zzz " + with:                       "--focus",
		"--system lws --versions 1 --kubernetes 1.35,1.36 --up --provider existing --x " + with: "unknown flag: --x",
	} {
		code, _, errs := command(t, append([]string{"matrix"}, strings.Fields(args)...)...)
		if code != cli.ExitInput || !strings.Contains(errs, want) {
			t.Errorf("matrix %s: exit code %d, no %q in %s", args, code, want, errs)
		}
	}
	dir := t.TempDir() // a mistake in the input says nothing about an earlier report
	golden.Write(t, filepath.Join(dir, "matrix.json"), "{}")
	code, _, errs := command(t, "matrix", "--system", "lws", "--versions", "1", "--kubernetes", "1.35.4", "--shard", "3/2",
		"--report-dir", dir, versioned)
	if _, err := os.Stat(filepath.Join(dir, "matrix.json")); code != cli.ExitInput || err != nil {
		t.Errorf("exit code %d: %s; the earlier report: %v", code, errs, err)
	}
}

// The matrices of the documents are well formed, and so are their scenarios: their only error is that there is no
// cluster to run them on.
func TestMatricesOfTheDocuments(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	pages := golden.Read(t, "../../docs/matrix.md") + golden.Read(t, "../../docs/operators.md")
	t.Chdir("../..")
	found := 0
	for line := range strings.Lines(pages) {
		text, is := strings.CutPrefix(strings.TrimSpace(line), "rehearse matrix --")
		if !is {
			continue
		}
		found++
		args := append([]string{"matrix"}, strings.Fields("--"+text)...)
		code, _, errs := command(t, append(args, "--provider", "existing", "--kubeconfig", "no/such")...)
		if code != cli.ExitInput || !strings.Contains(errs, "no/such") {
			t.Errorf("%s: exit code %d: %s", line, code, errs)
		}
	}
	if found < 5 {
		t.Errorf("found %d matrices", found)
	}
}

// The cells of an operator version that exits by itself are not judged and say why. With --up, which upgrades one
// cluster along a row, the verdicts are the same.
func TestMatrix(t *testing.T) {
	needsClusters(t)
	ready := serveReadiness(t, func(path string) bool { return path == "/v1" })
	path := file(t, scenario(`, systems: [{name: op, version: v1, process: {ready: {httpGet: "`+ready+`/$(VERSION)"},
    command: [sh, -c, "echo this is $(VERSION); test $(VERSION) = v1 && sleep 1000"]}}]`))
	once := func(more ...string) string {
		report := t.TempDir()
		args := []string{
			"matrix", "--system", "op", "--versions", "v1,v2", "--kubernetes", "1.35.4,1.36.3", "--report-dir", report, path,
		}
		code, out, errs := command(t, append(args, more...)...)
		const sentence = "op: 4 cells, 2 versions on 2 of Kubernetes: 2 passed, 2 not judged"
		for _, want := range []string{sentence, "not judged: v2 on 1.35.4", "this is v2"} {
			if code != cli.ExitBroken || !strings.Contains(out, want) {
				t.Errorf("%q: exit code %d, no %q in\n%s%s", more, code, want, out, errs)
			}
		}
		for _, name := range []string{"matrix.json", "matrix.md", "matrix.html", "run.json", "report.html"} {
			if text := golden.Read(t, filepath.Join(report, name)); strings.HasPrefix(name, "matrix") && !strings.Contains(text, sentence) &&
				name != "matrix.json" {
				t.Errorf("%s has no %q", name, sentence)
			}
		}
		return report
	}
	apart, up := once(), once("--up")
	if code, out, errs := command(t, "matrix", "diff", apart, up); code != cli.ExitOK || out != "no cell differs\n" {
		t.Errorf("diff: exit code %d\n%s%s", code, out, errs)
	}
}

// serveReadiness returns the URL of a server that answers 200 if a path is ready. With it, a program that exits at once
// is never taken for a program that runs.
func serveReadiness(t *testing.T, ready func(path string) bool) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ready(r.URL.Path) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A cell whose operator exits in the second of two runs is unstable, so it has not passed.
func TestMatrixRepeated(t *testing.T) {
	needsClusters(t)
	dir := t.TempDir()
	ready := serveReadiness(t, func(string) bool { return os.Remove(dir+"/ready") == nil })
	path := file(t, scenario(`, systems: [{name: op, version: v1, process: {ready: {httpGet: "`+ready+`"},
    command: [sh, -c, "cd `+dir+` && mkdir once && mkdir ready && sleep 1000"]}}]`))
	report := t.TempDir()
	code, out, errs := command(t, "matrix", "--system", "op", "--versions", "v1", "--kubernetes", "1.36.3", "--repeat", "2",
		"--report-dir", report, path)
	for _, want := range []string{
		"run 1 of 2", "run 2 of 2", "op: 1 cell, 1 version on 1 of Kubernetes: 0 passed, 1 unstable; 2 runs of each",
		"unstable: v1 on 1.36.3: passed in run 1, not judged in run 2; ",
	} {
		if code != cli.ExitFailed || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, out, errs)
		}
	}
	for _, name := range []string{"matrix.html", "matrix.md", "run-1/matrix.json", "run-2/run.json", "run.json", "report.html"} {
		if text := golden.Read(t, filepath.Join(report, name)); strings.HasPrefix(name, "matrix") && !strings.Contains(text, "unstable") {
			t.Errorf("%s does not say it", name)
		}
	}
}

// The merged shards of a matrix are the whole matrix. A shard that is missing or given twice is rejected.
func TestMatrixShards(t *testing.T) {
	needsClusters(t)
	path := file(t, scenario(`, systems: [{name: op, version: v1, process: {command: [sleep, "1000"]}}]`))
	shard := func(number string) string {
		report := t.TempDir()
		code, out, errs := command(t, "matrix", "--system", "op", "--versions", "v1", "--kubernetes", "1.35.4,1.36.3",
			"--shard", number, "--report-dir", report, path)
		if want := "1 version on 2 of Kubernetes: 1 passed; shard " + number; code != cli.ExitOK || !strings.Contains(out, want) {
			t.Fatalf("shard %s: exit code %d, no %q in\n%s%s", number, code, want, out, errs)
		}
		return report
	}
	first, second, merged := shard("1/2"), shard("2/2"), t.TempDir()
	code, out, errs := command(t, "merge", second, first, "-o", merged)
	const want = "op: 2 cells, 1 version on 2 of Kubernetes: 2 passed\n"
	if code != cli.ExitOK || !strings.HasSuffix(out, want) {
		t.Errorf("exit code %d, want %q\n%s%s", code, want, out, errs)
	}
	for _, name := range []string{"matrix.json", "matrix.md", "matrix.html", "run.json", "report.html", "junit.xml"} {
		golden.Read(t, filepath.Join(merged, name))
	}
	if code, _, errs := command(t, "merge", first, "-o", t.TempDir()); code != cli.ExitInput ||
		!strings.Contains(errs, "missing: 2/2") {
		t.Errorf("one of two: exit code %d, %s", code, errs)
	}
	if code, _, errs := command(t, "merge", first, first, second, "-o", t.TempDir()); code != cli.ExitInput ||
		!strings.Contains(errs, "shard 1 is there twice") {
		t.Errorf("one twice: exit code %d, %s", code, errs)
	}
	if code, out, errs := command(t, "matrix", "diff", merged, merged); code != cli.ExitOK {
		t.Errorf("diff: exit code %d\n%s%s", code, out, errs)
	}
}

// A cell for a version that does not exist is untested and says where and why. The other cells run, and the exit code
// shows that something was not tested.
func TestMatrixLeavesOut(t *testing.T) {
	needsClusters(t)
	path := file(t, scenario(`, systems: [{name: op, version: v1, process: {command: [sleep, "1000"]}}]`))
	report := t.TempDir()
	code, out, errs := command(t, "matrix", "--system", "op", "--versions", "v1", "--kubernetes", "1.36.3,1.99",
		"--report-dir", report, path)
	for _, want := range []string{
		"op: 2 cells, 1 version on 2 of Kubernetes: 1 passed, 1 untested; 1 of them could not be planned",
		"untested: v1 on 1.99: " + path + ":",
	} {
		if code != cli.ExitBroken || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, out, errs)
		}
	}
	if text := golden.Read(t, filepath.Join(report, "matrix.json")); !strings.Contains(text, `"unplanned": true`) {
		t.Errorf("matrix.json does not say it:\n%s", text)
	}
}
