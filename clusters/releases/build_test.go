package releases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestMainModule(t *testing.T) {
	got, err := mainModule("go.mod", []byte(golden.Read(t, "testdata/kubernetes.mod")), mustExact(t, "1.34.4-rc.1"))
	golden.Must(t, err)
	if want := golden.Read(t, "testdata/main.mod"); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMainModuleRejects(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no go line":         {"module k8s.io/kubernetes\n", "no go line"},
		"no staging modules": {"module k8s.io/kubernetes\ngo 1.24\n", "replaces no module"},
		"another folder": {
			"module k8s.io/kubernetes\ngo 1.24\nreplace k8s.io/api => ../api\n",
			"replaces k8s.io/api by the folder ../api",
		},
		"no go.mod": {"<html>", "go.mod"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mainModule("go.mod", []byte(test.text), mustExact(t, "1.34.4"))
			if err == nil {
				t.Fatalf("made\n%s", got)
			}
			golden.Error(t, err, test.want)
		})
	}
}

func TestBuild(t *testing.T) {
	g, heard := newFakeGo(t), new(said)
	s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path, Progress: heard.progress})
	b := mustEnsure(t, s, "1.34.4")
	v, err := programVersion(t.Context(), b.Path("kube-scheduler"))
	if err != nil || v.String() != "1.34.4" {
		t.Errorf("built %s, %v", v, err)
	}
	if got := golden.Read(t, filepath.Join(g.dir, "built.env")); got != "CGO_ENABLED=0\nGOFLAGS=-mod=mod\nGOWORK=off\n" {
		t.Errorf("built with %s", got)
	}
	calls := golden.Read(t, filepath.Join(g.dir, "calls"))
	for _, want := range []string{
		"mod download -json k8s.io/kubernetes@v1.34.4",
		"build -v -trimpath -ldflags -s -w -X k8s.io/component-base/version.gitVersion=v1.34.4 ",
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34 ",
		" -X k8s.io/client-go/pkg/version.gitVersion=v1.34.4 ",
		" -X k8s.io/client-go/pkg/version.gitCommit=c0ffee ",
		" -X k8s.io/client-go/pkg/version.buildDate=2026-02-10T12:53:36Z ",
		" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager " +
			"k8s.io/kubernetes/cmd/kube-scheduler\n",
	} {
		if !strings.Contains(calls, want) {
			t.Errorf("%q is not in: %s", want, calls)
		}
	}
	if !heard.contains("building kube-apiserver, kube-controller-manager, kube-scheduler 1.34.4 from source (a few " +
		"minutes the first time)") {
		t.Errorf("said %q", heard.lines)
	}
	mustEnsure(t, s, "1.34.4", "kubectl")
	if calls := golden.Read(t, filepath.Join(g.dir, "calls")); !strings.HasSuffix(calls, "/ k8s.io/kubernetes/cmd/kubectl\n") {
		t.Errorf("kubectl was not built alone: %s", calls)
	}
	wantNoLeftovers(t, s, "1.34.4")
}

func TestBuildFails(t *testing.T) {
	t.Run("the go command fails", func(t *testing.T) {
		g := newFakeGo(t)
		g.write(t, "fail", strings.Repeat("earlier line\n", 30)+"go: requires go >= 1.99")
		s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path})
		_, err := s.Ensure(t.Context(), "1.34.4")
		golden.Error(t, err, "cannot build kube-apiserver, kube-controller-manager, kube-scheduler of Kubernetes 1.34.4",
			"go mod download: exit status 1", "go: requires go >= 1.99")
		if n := strings.Count(err.Error(), "\n"); n != keptLines {
			t.Errorf("%d lines of output are in the error", n)
		}
		wantNoLeftovers(t, s, "1.34.4")
	})
	t.Run("the version is not stamped", func(t *testing.T) {
		g := newFakeGo(t)
		g.write(t, "stamp", "v1.34.3")
		s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path})
		_, err := s.Ensure(t.Context(), "1.34.4")
		golden.Error(t, err, "kube-apiserver --version says 1.34.3, not 1.34.4")
	})
	t.Run("there is no go command", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build})
		_, err := s.Ensure(t.Context(), "1.34.4")
		if !errors.Is(err, errNoGo) {
			t.Errorf("got %v", err)
		}
		golden.Error(t, err, "https://go.dev/dl/", "--kubernetes-bin")
		if _, err := s.FeatureList(t.Context(), "1.34.4"); err == nil || strings.Contains(err.Error(), "--kubernetes-bin") {
			t.Errorf("the list of gates: %v", err)
		}
	})
	t.Run("it is interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := newFakeGo(t)
		s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path, Progress: func(format string, _ ...any) {
			if strings.HasPrefix(format, "building") {
				cancel()
			}
		}})
		_, err := s.Ensure(ctx, "1.34.4")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		wantNoLeftovers(t, s, "1.34.4")
	})
}

func TestBuildResumes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g, dir, temp, now := newFakeGo(t), t.TempDir(), t.TempDir(), time.Unix(1, 0)
	t.Setenv("TMPDIR", temp)
	s := newStore(t, Options{
		CacheDir: dir, Source: Build, Go: g.path,
		Now: func() time.Time { now = now.Add(time.Minute); return now },
		Progress: func(format string, _ ...any) {
			if strings.Contains(format, "packages compiled") {
				cancel()
			}
		},
	})
	if _, err := s.Ensure(ctx, "1.34.4"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the interrupted build: %v", err)
	}
	wantNoLeftovers(t, s, "1.34.4")
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the interrupted build leaves %v in the folder for temporary files, %v", left, err)
	}
	mustEnsure(t, s, "1.34.4")
	if got := golden.Read(t, filepath.Join(g.dir, "cached")); got != "object\n" {
		t.Errorf("the second build found %q in its cache", got)
	}
	if _, err := os.Stat(filepath.Join(s.entry(mustExact(t, "1.34.4")).home, buildCache)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the build cache stays after the build: %v", err)
	}
	mustEnsure(t, s, "1.34.4", "kubectl")
	if got := golden.Read(t, filepath.Join(g.dir, "cached")); got != "" {
		t.Errorf("a further build found %q in its cache", got)
	}
}

func TestBuildCounter(t *testing.T) {
	now, heard := time.Unix(1, 0), new(said)
	c := &buildCounter{what: "it", every: every{now: func() time.Time { return now }}, progress: heard.progress}
	for i, line := range []string{
		"go: downloading example.com/one v1.0.0", "go: downloading example.com/two v1.0.0", "fmt", "example.com/one",
		"# example.com/one", "./one.go:1:2: undefined: x", "",
	} {
		now = now.Add(700 * time.Millisecond)
		if progress := c.line(line); progress != (i < 4) {
			t.Errorf("%q is progress: %t", line, progress)
		}
	}
	if got := strings.Join(heard.lines,
		"; "); got != "building it: 1 modules downloaded so far; building it: 1 packages compiled so far" {
		t.Error(got)
	}
}

func TestModuleErrors(t *testing.T) {
	for name, test := range map[string]struct{ printed, want string }{
		"the module is not there": {
			`{"Path":"m","Version":"v1.0.0","Error":"403 Forbidden"}`,
			"go mod download m@v1.0.0: 403 Forbidden",
		},
		"nothing is said":      {``, "says nothing of m@v1.0.0"},
		"another one is named": {`{"Path":"n","Version":"v1.0.0"}`, "says nothing of m@v1.0.0"},
		"it is no JSON":        {`oops`, "go mod download -json: invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newFakeGo(t)
			g.write(t, "print", test.printed)
			_, err := goTool{path: g.path}.download(t.Context(), g.dir, "m@v1.0.0")
			golden.Error(t, err, test.want)
		})
	}
}

func mustExact(t *testing.T, text string) clusters.Version {
	t.Helper()
	v, err := exact(text)
	golden.Must(t, err)
	return v
}
