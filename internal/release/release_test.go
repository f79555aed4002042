package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

var committed = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestParsePlatforms(t *testing.T) {
	all, err := parsePlatforms("linux/amd64,  darwin/arm64")
	if err != nil || len(all) != 2 || all[1] != (platform{"darwin", "arm64"}) {
		t.Errorf("got %v, %v", all, err)
	}
	for _, text := range []string{"", "linux", "/arm64", "linux/"} {
		if all, err := parsePlatforms(text); err == nil {
			t.Errorf("%q: got %v", text, all)
		}
	}
}

// Each command has its own platforms: those of the image once replaced those of the binaries.
func TestDefaultPlatforms(t *testing.T) {
	for name, want := range map[string]string{
		"binaries": "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64", "image": "linux/amd64 linux/arm64",
	} {
		command, _, err := newCommand().Find([]string{name})
		golden.Must(t, err)
		// The variable has the default, whatever the flag's description says.
		if got := command.Flag("platforms").Value.String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestChangesOf(t *testing.T) {
	const changelog = "# Changes\n\n## Unreleased\n\n- three\n\n## v0.2.0\n\n- two\n  ## no heading\n\n### Upgrading\n\n" +
		"Nothing.\n\n## v0.1.0\n\n- one\n\n## v0.0.1\n"
	for _, test := range []struct{ version, want, wrong string }{
		{version: "v0.1.0", want: "# Rehearse v0.1.0\n\n- one\n"},
		{version: "v0.2.0", want: "# Rehearse v0.2.0\n\n- two\n  ## no heading\n\n### Upgrading\n\nNothing.\n"},
		{
			version: "v0.2.1-0.20261123095420-a1ae40f00000",
			want:    "# Rehearse v0.2.1-0.20261123095420-a1ae40f00000\n\n- three\n",
		},
		{version: "v0.3.0", wrong: `there is no section "## v0.3.0"`},
		{version: "v0.0.1", wrong: "the section v0.0.1 is empty"},
	} {
		got, err := changesOf(changelog, test.version)
		if got != test.want || test.wrong == "" && err != nil {
			t.Errorf("%s: %q, %v", test.version, got, err)
		}
		if test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%s: %v, want %q", test.version, err, test.wrong)
		}
	}
}

// The changelog of this repository has the changes of a program that is built from it now.
func TestChangesOfThisRepository(t *testing.T) {
	file := filepath.Join(t.TempDir(), "changes.md")
	golden.Must(t, writeChanges("../../CHANGELOG.md", "v0.0.0-20261123095420-a1ae40f00000", file))
}

// built returns a program that looks as if it was built from a commit.
func built(t *testing.T) *program {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rehearse")
	golden.Write(t, file, "a program")
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.26.8 X:nodwarf5", Path: "example.com/shop/cmd/shop",
		Main: debug.Module{Path: "example.com/shop", Version: "v1.2.3"},
		Deps: []*debug.Module{
			{Path: "example.com/one", Version: "v1.0.0+incompatible", Sum: "h1:one="},
			{Path: "example.com/two", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v2.0.1"}},
		},
		Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: "true"},
			{Key: "GOOS", Value: "linux"},
			{Key: "vcs.revision", Value: "a1ae40f"},
			{Key: "vcs.time", Value: committed.Format(time.RFC3339)},
		},
	}
	return &program{platform: platform{"linux", "arm64"}, file: file, info: info, committed: committed}
}

func TestBOM(t *testing.T) {
	p := built(t)
	data, err := encodeBOM(p.info, p.version(), p.committed)
	golden.Must(t, err)
	var got struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Component struct {
				PURL       string
				Properties []struct{ Name, Value string }
			}
		}
		Components   []struct{ PURL, Type string }
		Dependencies []struct{ DependsOn []string }
	}
	golden.Must(t, json.Unmarshal(data, &got))
	about := got.Metadata
	if got.BOMFormat != "CycloneDX" || about.Timestamp != "2026-03-04T05:06:07Z" ||
		about.Component.PURL != "pkg:golang/example.com/shop@v1.2.3" || len(about.Component.Properties) != 3 {
		t.Errorf("got\n%s", data)
	}
	var components []string
	for _, c := range got.Components {
		components = append(components, c.PURL)
	}
	want := "pkg:golang/std@1.26.8 pkg:golang/example.com/one@v1.0.0%2Bincompatible pkg:golang/example.com/fork@v2.0.1"
	if all := strings.Join(components, " "); all != want || strings.Join(got.Dependencies[0].DependsOn, " ") != want {
		t.Errorf("got\n%s", data)
	}
}

// The BOM of a real program (that of this test) has all of its modules.
func TestBOMOfARealProgram(t *testing.T) {
	own, err := os.Executable()
	golden.Must(t, err)
	info, err := buildinfo.ReadFile(own)
	golden.Must(t, err)
	list := bomOf(info, "v0.0.1", committed)
	if len(list.Components) != len(info.Deps)+1 || len(list.Components) < 5 {
		t.Errorf("%d components of %d modules", len(list.Components), len(info.Deps))
	}
}

func TestProgramOfNoCommit(t *testing.T) {
	own, err := os.Executable() // go test records no commit
	golden.Must(t, err)
	_, err = readProgram(platform{"linux", "amd64"}, own)
	golden.Error(t, err, "was not built from a Git checkout")
}

func TestPack(t *testing.T) {
	p := built(t)
	source, out := t.TempDir(), t.TempDir()
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		golden.Write(t, filepath.Join(source, name), name)
	}
	first, second := filepath.Join(out, "first.tar.gz"), filepath.Join(out, "second.tar.gz")
	for _, file := range []string{first, second} {
		golden.Must(t, pack(p, source, file))
		golden.Must(t, os.Chtimes(p.file, committed, committed))
	}
	one, other := contentOf(t, first), contentOf(t, second)
	if !bytes.Equal(one, other) {
		t.Error("the archive depends on the time at which a file was made")
	}
	zipped, err := gzip.NewReader(bytes.NewReader(one))
	golden.Must(t, err)
	var found []string
	for r := tar.NewReader(zipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		golden.Must(t, err)
		if !header.ModTime.Equal(committed) || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s is of %s and of %q", header.Name, header.ModTime, header.Uname)
		}
		found = append(found, header.FileInfo().Mode().String()+" "+header.Name)
	}
	want := "-rw-r--r-- CHANGELOG.md -rw-r--r-- LICENSE -rw-r--r-- README.md Lrwxrwxrwx kubectl-rehearse -rwxr-xr-x " +
		"rehearse"
	if got := strings.Join(found, " "); got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
}

func contentOf(t *testing.T, file string) []byte {
	t.Helper()
	data := []byte(golden.Read(t, file))
	return data
}

func TestWriteSums(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a"} {
		golden.Write(t, filepath.Join(dir, name), "")
	}
	sums := filepath.Join(dir, "SHA256SUMS")
	golden.Must(t, writeSums(sums, []string{filepath.Join(dir, "b"), filepath.Join(dir, "a")}))
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got, want := string(contentOf(t, sums)), empty+"  a\n"+empty+"  b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
