package inlog_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// folder returns a folder with run.json and two files of artifacts, the larger of which does not compress.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	noise := make([]byte, 60_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for name, data := range map[string][]byte{
		"run.json": []byte("{}"), "one/history.jsonl": noise, "one/small": []byte("small"),
	} {
		path := filepath.Join(dir, name)
		golden.Write(t, path, data)
	}
	return dir
}

var artifacts = []string{"one/history.jsonl", "one/small"}

func written(t *testing.T, id string, limit int) (string, []string) {
	t.Helper()
	var log bytes.Buffer
	left, err := inlog.Write(&log, id, folder(t), "run.json", artifacts, limit)
	golden.Must(t, err)
	return log.String(), left
}

// read gives each line to a reader.
func read(log string) (reports []*inlog.Report, others []string, problems []error, reader *inlog.Reader) {
	reader = &inlog.Reader{}
	for line := range strings.Lines(log) {
		ours, report, err := reader.Line(line)
		switch {
		case !ours:
			others = append(others, strings.TrimSpace(line))
		case err != nil:
			problems = append(problems, err)
		case report != nil:
			reports = append(reports, report)
		}
	}
	return reports, others, problems, reader
}

// The reports of two pods can be read from one log, mixed with other output.
func TestReportsInALog(t *testing.T) {
	one, _ := written(t, "pod-1", inlog.Limit)
	two, _ := written(t, "pod-2", inlog.Limit)
	first, second := slices.Collect(strings.Lines(one)), slices.Collect(strings.Lines(two))
	if len(first) < 4 {
		t.Fatalf("%d lines", len(first))
	}
	log := "✓ create\n" + first[0] + second[0] + "#rehearse is no report\n" + strings.Join(second[1:], "") +
		strings.Join(first[1:], "") + "1 passed\n"
	reports, others, problems, reader := read(log)
	if len(reports) != 2 || len(problems) > 0 || len(others) != 3 || len(reader.Unfinished()) > 0 {
		t.Fatalf("%d reports, %q, %v, unfinished %v", len(reports), others, problems, reader.Unfinished())
	}
	if reports[0].ID != "pod-2" || reports[1].ID != "pod-1" {
		t.Errorf("the reports are those of %s and %s", reports[0].ID, reports[1].ID)
	}
	dir := filepath.Join(t.TempDir(), "new")
	golden.Must(t, reports[0].Unpack(dir))
	var found []string
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, name)
		}
		return err
	}); err != nil || fmt.Sprint(found) != "[one/history.jsonl one/small run.json]" {
		t.Errorf("unpacked %s, %v", found, err)
	}
}

func TestBrokenReports(t *testing.T) {
	log, _ := written(t, "pod", inlog.Limit)
	lines := slices.Collect(strings.Lines(log))
	last := len(lines) - 1
	for name, broken := range map[string]string{
		"a line is missing":       strings.Join(slices.Delete(slices.Clone(lines), 1, 2), ""),
		"the beginning is":        strings.Join(lines[2:], ""),
		"the last line is twice":  log + lines[last],
		"a line is there twice":   lines[0] + lines[1] + strings.Join(lines[1:], ""),
		"another checksum":        strings.Replace(log, lines[last], lines[last][:len(lines[last])-3]+"zz\n", 1),
		"a line has another byte": strings.Replace(log, lines[0], strings.Replace(lines[0], " 0 H", " 0 I", 1), 1),
	} {
		reports, _, problems, _ := read(broken)
		if len(problems) != 1 || name != "the last line is twice" && len(reports) > 0 {
			t.Errorf("%s: %d reports, %v", name, len(reports), problems)
		}
	}
	reports, _, problems, reader := read(strings.Join(lines[:last], ""))
	if len(reports) > 0 || len(problems) > 0 || fmt.Sprint(reader.Unfinished()) != "[pod]" {
		t.Errorf("without its end: %d reports, %v, unfinished %v", len(reports), problems, reader.Unfinished())
	}
}

// A report that broke off does not spoil the next one with the same identifier.
func TestAReportAfterOneThatBrokeOff(t *testing.T) {
	log, _ := written(t, "pod", inlog.Limit)
	lines := slices.Collect(strings.Lines(log))
	for name, broken := range map[string]string{
		"without its end": strings.Join(lines[:2], ""), "in a line": log[:len(log)/2] + "\n", "without its beginning": lines[2],
	} {
		reports, _, problems, reader := read(broken + log)
		if len(reports) != 1 || len(problems) > 0 || len(reader.Unfinished()) > 0 {
			t.Errorf("%s: %d reports, %v, unfinished %v", name, len(reports), problems, reader.Unfinished())
		}
	}
}

// Artifacts that do not fit are left out and named. run.json is never left out.
func TestLimit(t *testing.T) {
	log, left := written(t, "pod", 10_000)
	if reports, _, problems, _ := read(log); len(reports) != 1 || len(problems) > 0 ||
		fmt.Sprint(left) != "[one/history.jsonl]" {
		t.Errorf("%d reports, %v, left out %s", len(reports), problems, left)
	}
	var out bytes.Buffer
	if _, err := inlog.Write(&out, "pod", folder(t), "run.json", artifacts, 10); err == nil || out.Len() > 0 {
		t.Errorf("a limit below run.json: %v, %q", err, out.String())
	}
}

func TestUnpackStaysInTheFolder(t *testing.T) {
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, "outside"), "")
	inside := filepath.Join(dir, "inside")
	golden.Must(t, os.Mkdir(inside, 0o755))
	data, err := inlog.Pack(inside, []string{"../outside"})
	golden.Must(t, err)
	golden.Error(t, inlog.Unpack(bytes.NewReader(data), inside), `"../outside"`)
}
