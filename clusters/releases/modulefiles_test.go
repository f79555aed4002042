package releases

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// nextRun is a store of another run with the same cache.
func nextRun(t *testing.T, s *Store, heard *said) *Store {
	t.Helper()
	o := s.options
	o.Progress = heard.progress
	return newStore(t, o)
}

// Files of a module that were changed in the cache are got again, with the nested modules that the build added.
func TestChangedFilesOfAModule(t *testing.T) {
	s, proxy := newModuleStore(t, nil)
	m := clusters.ModuleProgram{Path: "example.com/m", Version: "v1.0.0"}
	proxy.publish(t, m.Path, m.Version, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.22\n\nrequire example.com/m/api v0.0.0\n\n" +
			"replace example.com/m/api => ./api\n",
		"main.go":         "package main\n\nimport \"example.com/m/api\"\n\nfunc main() { println(api.Text) }\n",
		"config/crd.yaml": "a CRD",
	})
	proxy.publish(t, m.Path+"/api", m.Version, map[string]string{
		"go.mod": "module example.com/m/api\n\ngo 1.22\n", "api.go": "package api\n\nconst Text = \"m\"\n",
		"crd.yaml": "a nested CRD",
	})
	built := mustBuild(t, s, m)
	files := map[string]string{"config/crd.yaml": "a CRD", "api/crd.yaml": "a nested CRD"}
	for name, change := range map[string]func(){
		"edited":  func() { golden.Write(t, filepath.Join(built.Dir, "config/crd.yaml"), "edited") },
		"nested":  func() { golden.Write(t, filepath.Join(built.Dir, "api/crd.yaml"), "edited") },
		"added":   func() { golden.Write(t, filepath.Join(built.Dir, "config/more.yaml"), "added") },
		"removed": func() { golden.Must(t, os.Remove(filepath.Join(built.Dir, "config/crd.yaml"))) },
		"all":     func() { golden.Must(t, os.RemoveAll(built.Dir)) },
		"record":  func() { golden.Write(t, filepath.Join(filepath.Dir(built.Dir), filesName), "damaged") },
	} {
		t.Run(name, func(t *testing.T) {
			change()
			heard := new(said)
			next := nextRun(t, s, heard)
			if _, cached := next.CachedModule(m); cached {
				t.Error("changed files count as cached")
			}
			wantSays(t, mustBuild(t, next, m), "m")
			if told := heard.contains("are no longer what was stored"); told != (name != "all") {
				t.Errorf("said %q", heard.lines)
			}
			for file, want := range files {
				if got := golden.Read(t, filepath.Join(built.Dir, file)); got != want {
					t.Errorf("%s holds %q", file, got)
				}
			}
			if _, err := os.Stat(filepath.Join(built.Dir, "config/more.yaml")); err == nil {
				t.Error("an added file is still there")
			}
			if _, cached := nextRun(t, s, heard).CachedModule(m); !cached {
				t.Error("the next run does not have it")
			}
		})
	}
}

// A second program of a module may add files, even if it does not compile, or if one of its nested modules cannot be
// got. This is no change of the first one.
func TestProgramsShareFiles(t *testing.T) {
	s, proxy := newModuleStore(t, nil)
	one := clusters.ModuleProgram{Path: "example.com/m", Version: "v1.0.0"}
	two := one
	two.Package = "cmd/two"
	proxy.publish(t, one.Path, one.Version, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.22\n", "main.go": says("one"),
	})
	proxy.publish(t, "example.com/m/cmd/two", one.Version, map[string]string{
		"go.mod": "module example.com/m/cmd/two\n\ngo 1.22\n", "main.go": says("two"),
	})
	proxy.publish(t, "example.com/m/cmd/broken", one.Version, map[string]string{
		"go.mod": "module example.com/m/cmd/broken\n\ngo 1.22\n", "main.go": "package main\n\nfunc main() { no() }\n",
	})
	proxy.publish(t, "example.com/m/api", one.Version, map[string]string{"go.mod": "module example.com/m/api\n"})
	proxy.publish(t, "example.com/m/cmd/incomplete", one.Version, map[string]string{
		"go.mod": "module example.com/m/cmd/incomplete\n\ngo 1.22\n\nreplace (\n\texample.com/m/api => ../../api\n\t" +
			"example.com/m/absent => ../../absent\n)\n",
		"main.go": says("incomplete"),
	})
	mustBuild(t, s, one)
	mustBuild(t, nextRun(t, s, new(said)), two)
	for _, folder := range []string{"cmd/broken", "cmd/incomplete"} {
		failing := one
		failing.Package = folder
		if _, err := nextRun(t, s, new(said)).BuildModule(t.Context(), failing); err == nil {
			t.Errorf("%s was built", failing)
		}
		if _, cached := nextRun(t, s, new(said)).CachedModule(one); !cached {
			t.Errorf("%s is not cached after the failed build of %s", one, failing)
		}
	}
	for _, m := range []clusters.ModuleProgram{one, two} {
		if _, cached := nextRun(t, s, new(said)).CachedModule(m); !cached {
			t.Errorf("%s is not cached", m)
		}
	}
}

// A module that was stored before there were digests is accepted, and recorded.
func TestModuleWithoutARecord(t *testing.T) {
	s, proxy := newModuleStore(t, nil)
	m := clusters.ModuleProgram{Path: "example.com/m", Version: "v1.0.0"}
	proxy.publish(t, m.Path, m.Version, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.22\n", "main.go": says("m"), "crd.yaml": "a CRD",
	})
	built := mustBuild(t, s, m)
	golden.Must(t, os.Remove(filepath.Join(filepath.Dir(built.Dir), filesName)))
	noGo := newStore(t, Options{CacheDir: s.options.CacheDir, Go: "/no/such/go"})
	if _, cached := noGo.CachedModule(m); !cached {
		t.Error("it is not cached")
	}
	wantSays(t, mustBuild(t, noGo, m), "m")
	golden.Write(t, filepath.Join(built.Dir, "crd.yaml"), "edited")
	if _, cached := nextRun(t, s, new(said)).CachedModule(m); cached {
		t.Error("it was not recorded")
	}
}
