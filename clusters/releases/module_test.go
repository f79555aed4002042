package releases

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// moduleProxy is a folder that the Go tool uses as a module proxy.
type moduleProxy struct{ dir string }

// publish serves a version of a module with its files, by path. It returns its lines for a go.sum.
func (p moduleProxy) publish(t *testing.T, modulePath, version string, files map[string]string) string {
	t.Helper()
	escaped, err := module.EscapePath(modulePath)
	golden.Must(t, err)
	at := path.Join(p.dir, escaped, "@v")
	golden.Write(t, path.Join(at, version+".info"), fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version))
	golden.Write(t, path.Join(at, version+".mod"), files["go.mod"])
	name := path.Join(at, version+".zip")
	file, err := os.Create(name)
	golden.Must(t, err)
	archive := zip.NewWriter(file)
	for _, name := range clusters.SortedKeys(files) {
		w, err := archive.Create(modulePath + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		golden.Must(t, err)
	}
	golden.Must(t, errors.Join(archive.Close(), file.Close()))
	whole, err1 := dirhash.HashZip(name, dirhash.Hash1)
	mod, err2 := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(files["go.mod"])), nil
	})
	golden.Must(t, errors.Join(err1, err2))
	return fmt.Sprintf("%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", modulePath, version, whole, mod)
}

// says returns the source of a program that prints a text.
func says(text string) string {
	return "package main\n\nfunc main() { println(" + fmt.Sprintf("%q", text) + ") }\n"
}

// newModuleStore returns a store whose Go tool uses only the proxy.
func newModuleStore(t *testing.T, progress clusters.Progress) (*Store, moduleProxy) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	p := moduleProxy{dir: t.TempDir()}
	return newStore(t, Options{CacheDir: t.TempDir(), Progress: progress, GoEnv: []string{
		"GOPROXY=file://" + p.dir, "GOSUMDB=off", "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOMODCACHE=" + t.TempDir(),
		"GOTOOLCHAIN=local", "GOPRIVATE=", "GONOPROXY=",
	}}), p
}

func mustBuild(t *testing.T, s *Store, m clusters.ModuleProgram) clusters.BuiltModule {
	t.Helper()
	built, err := s.BuildModule(t.Context(), m)
	golden.Must(t, err)
	return built
}

func wantSays(t *testing.T, built clusters.BuiltModule, want string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), built.Program).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s says %q, %v; want %q", built.Program, out, err, want)
	}
}

func TestBuildModule(t *testing.T) {
	heard := new(said)
	s, proxy := newModuleStore(t, heard.progress)
	for _, version := range []string{"v3.1.0", "v3.2.0"} {
		proxy.publish(t, "example.com/Operator/v3", version, map[string]string{
			"go.mod": "module example.com/Operator/v3\n\ngo 1.22\n", "main.go": says("operator " + version),
			"cmd/hook/main.go": says("hook " + version), "config/crd.yaml": "of " + version,
		})
	}
	m := clusters.ModuleProgram{Path: "example.com/Operator/v3", Version: "v3.1.0"}
	if _, cached := s.CachedModule(m); cached {
		t.Error("it is in the cache before it was built")
	}
	t.Setenv("TMPDIR", "/no/such/folder") // the temporary files of builds are in the cache
	first := mustBuild(t, s, m)
	wantSays(t, first, "operator v3.1.0")
	if got := golden.Read(t, filepath.Join(first.Dir, "config/crd.yaml")); got != "of v3.1.0" {
		t.Errorf("its file holds %q", got)
	}
	if !heard.contains("building example.com/Operator/v3@v3.1.0 (a few minutes the first time)") {
		t.Errorf("said %q", heard.lines)
	}
	m.Version = "v3.2.0"
	wantSays(t, mustBuild(t, s, m), "operator v3.2.0")
	m.Package = "./cmd/hook"
	wantSays(t, mustBuild(t, s, m), "hook v3.2.0")

	noGo := newStore(t, Options{CacheDir: s.options.CacheDir, Go: "/no/such/go"})
	if again, cached := noGo.CachedModule(m); !cached {
		t.Error("what was built is not in the cache")
	} else {
		wantSays(t, again, "hook v3.2.0")
	}
	golden.Write(t, first.Program, "damaged")
	wantSays(t, mustBuild(t, s, clusters.ModuleProgram{Path: m.Path, Version: "v3.1.0"}), "operator v3.1.0")
	if !heard.contains("is no longer what was stored") {
		t.Errorf("said %q", heard.lines)
	}
}

// Several requests at once build a program only once.
func TestBuildModuleAtOnce(t *testing.T) {
	heard := new(said)
	s, proxy := newModuleStore(t, heard.progress)
	proxy.publish(t, "example.com/m", "v1.0.0",
		map[string]string{"go.mod": "module example.com/m\n\ngo 1.22\n", "main.go": says("m")})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			wantSays(t, mustBuild(t, s, clusters.ModuleProgram{Path: "example.com/m", Version: "v1.0.0"}), "m")
		})
	}
	all.Wait()
	builds := 0
	for _, line := range heard.lines {
		if strings.HasPrefix(line, "building example.com/m@v1.0.0 (") {
			builds++
		}
	}
	if builds != 1 {
		t.Errorf("built %d times", builds)
	}
}

// The go.mod of the main package's module decides. Its replacements apply, both modules and folders of the repository:
// a separate module in such a folder is fetched at the same version.
func TestBuildModuleOfSeveral(t *testing.T) {
	s, proxy := newModuleStore(t, nil)
	text := func(path, says string) map[string]string {
		return map[string]string{
			"go.mod": "module " + path + "\n\ngo 1.22\n", "text.go": "package text\n\nconst Text = " + fmt.Sprintf("%q", says) +
				"\n",
		}
	}
	sums := proxy.publish(t, "example.com/text", "v1.0.0", text("example.com/text", "the original"))
	sums += proxy.publish(t, "example.com/fork", "v1.5.0", text("example.com/text", "the fork"))
	proxy.publish(t, "example.com/m/api", "v1.1.0", text("example.com/m/api", "the api of another version"))
	proxy.publish(t, "example.com/m/api", "v1.0.0", text("example.com/m/api", "the api beside it"))
	main := func(texts ...string) string {
		b := "package main\n\nimport (\n"
		for i, path := range texts {
			b += fmt.Sprintf("\tt%d %q\n", i, path)
		}
		b += ")\n\nfunc main() { println(t0.Text"
		for i := range texts[1:] {
			b += fmt.Sprintf(" + \", \" + t%d.Text", i+1)
		}
		return b + ") }\n"
	}
	proxy.publish(t, "example.com/m", "v1.0.0", map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.22\n\nrequire (\n\texample.com/text v1.0.0\n\texample.com/m/api v0.0.0\n)\n\n" +
			"replace (\n\texample.com/text => example.com/fork v1.5.0\n\texample.com/m/api => ./api\n)\n",
		"go.sum": sums, "main.go": main("example.com/text", "example.com/m/api"),
		"shared/share.go": "package shared\n\nconst Text = \"the module above it\"\n",
	})
	proxy.publish(t, "example.com/m/cmd/controller", "v1.0.0", map[string]string{
		"go.mod": "module example.com/m/cmd/controller\n\ngo 1.22\n\nrequire (\n\texample.com/m v0.0.0\n\texample.com/m/api " +
			"v0.0.0 // indirect\n\texample.com/text v1.0.0 // indirect\n)\n\nreplace (\n\texample.com/m => ../../\n\t" +
			"example.com/m/api => ../../api\n)\n",
		"go.sum": sums, "main.go": main("example.com/m/shared", "example.com/m/api"),
	})
	wantSays(t, mustBuild(t, s, clusters.ModuleProgram{Path: "example.com/m", Version: "v1.0.0"}),
		"the fork, the api beside it")
	wantSays(t, mustBuild(t, s, clusters.ModuleProgram{
		Path: "example.com/m", Version: "v1.0.0",
		Package: "cmd/controller",
	}),
		"the module above it, the api beside it")
}

func TestBuildModuleRejects(t *testing.T) {
	s, proxy := newModuleStore(t, nil)
	good := map[string]string{
		"go.mod": "module example.com/good\n\ngo 1.22\n", "main.go": says("good"),
		"lib/lib.go": "package lib\n",
	}
	proxy.publish(t, "example.com/good", "v1.0.0", good)
	broken := map[string]string{
		"go.mod":  "module example.com/broken\n\ngo 1.22\n",
		"main.go": "package main\n\nfunc main() { undefinedName() }\n",
	}
	proxy.publish(t, "example.com/broken", "v1.0.0", broken)
	outside := map[string]string{
		"go.mod":  "module example.com/outside\n\ngo 1.22\n\nreplace example.com/x => ../x\n",
		"main.go": says("x"),
	}
	proxy.publish(t, "example.com/outside", "v1.0.0", outside)
	absent := map[string]string{
		"go.mod":  "module example.com/absent\n\ngo 1.22\n\nreplace example.com/x => ./x\n",
		"main.go": says("x"),
	}
	proxy.publish(t, "example.com/absent", "v1.0.0", absent)
	unsummed := map[string]string{
		"go.mod":  "module example.com/unsummed\n\ngo 1.22\n\nrequire example.com/good v1.0.0\n",
		"main.go": "package main\n\nimport _ \"example.com/good/lib\"\n\nfunc main() {}\n",
	}
	proxy.publish(t, "example.com/unsummed", "v1.0.0", unsummed)
	for name, test := range map[string]struct {
		module clusters.ModuleProgram
		want   []string
	}{
		"no such module": {
			clusters.ModuleProgram{Path: "example.com/no", Version: "v1.0.0"},
			[]string{
				"cannot build example.com/no@v1.0.0: get the module ('go list -m -versions example.com/no' lists the versions " +
					"that are served): go mod download", "no such file",
			},
		},
		"no such version": {
			clusters.ModuleProgram{Path: "example.com/good", Version: "v1.9.0"},
			[]string{"go mod download example.com/good@v1.9.0", "no such file"},
		},
		"no such folder": {
			clusters.ModuleProgram{Path: "example.com/good", Version: "v1.0.0", Package: "cmd/x"},
			[]string{"has no folder cmd/x, and no module for that folder was found", "example.com/good/cmd/x"},
		},
		"no program": {
			clusters.ModuleProgram{Path: "example.com/good", Version: "v1.0.0", Package: "./lib"},
			[]string{"cannot build lib of example.com/good@v1.0.0: it is the package lib, not a program"},
		},
		"it does not compile": {
			clusters.ModuleProgram{Path: "example.com/broken", Version: "v1.0.0"},
			[]string{"./main.go:3:15: undefined: undefinedName"},
		},
		"a folder outside": {
			clusters.ModuleProgram{Path: "example.com/outside", Version: "v1.0.0"},
			[]string{"replaces example.com/x by the folder ../x, which is outside of the module example.com/outside"},
		},
		"a folder that is not published": {
			clusters.ModuleProgram{Path: "example.com/absent", Version: "v1.0.0"},
			[]string{
				"replaces example.com/x by the folder ./x, which is a separate module: get the module",
				"go mod download example.com/absent/x",
			},
		},
		"a checksum is missing": {
			clusters.ModuleProgram{Path: "example.com/unsummed", Version: "v1.0.0"},
			[]string{"missing go.sum entry"},
		},
		"no exact version": {
			clusters.ModuleProgram{Path: "example.com/good", Version: "latest"},
			[]string{`"latest" is no exact version of a Go module`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.BuildModule(t.Context(), test.module)
			golden.Error(t, err, test.want...)
			if _, cached := s.CachedModule(test.module); cached {
				t.Error("it is in the cache")
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(s.options.CacheDir, "modules", "example.com", "*", tempPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
