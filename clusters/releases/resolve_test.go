package releases

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestResolve(t *testing.T) {
	h := newHost(t, "v1.34.12")
	h.files["/release/stable-1.36.txt"] = "v1.35.1"
	h.files["/release/stable-1.37.txt"] = "<html>"
	for _, test := range []struct {
		name, version string
		options       Options
		// cached versions, with a whole control plane
		cached     []string
		want, fail string
	}{
		{
			name: "an exact version stays", version: "v1.34.4", options: Options{BaseURL: gone(), Go: "/nonexistent"},
			want: "1.34.4",
		},
		{name: "from the host", version: "1.34", options: Options{BaseURL: h.URL, Go: "/nonexistent"}, want: "1.34.12"},
		{
			name: "from the cache", version: "1.34", options: Options{BaseURL: gone(), Go: "/nonexistent"},
			cached: []string{"1.34.9", "1.34.10", "1.34.2", "1.35.11", "1.34.11-rc.0"}, want: "1.34.10",
		},
		{
			name: "not from the cache when refreshed", version: "1.34", options: Options{BaseURL: h.URL, Refresh: true},
			cached: []string{"1.34.9"}, want: "1.34.12",
		},
		{
			name: "from the modules when told", version: "1.34", options: Options{BaseURL: h.URL, Source: Build},
			want: "1.34.10",
		},
		{name: "from the modules when unreachable", version: "1.34", options: Options{BaseURL: gone()}, want: "1.34.10"},
		{
			name: "not from the modules when told", version: "1.34", options: Options{BaseURL: gone(), Source: Download},
			fail: "cannot reach the host",
		},
		{
			name: "not on the host", version: "1.35", options: Options{BaseURL: h.URL},
			fail: "404 Not Found: that minor has no stable release",
		},
		{
			name: "another minor on the host", version: "1.36", options: Options{BaseURL: h.URL},
			fail: `answered "v1.35.1", which is not a patch of 1.36`,
		},
		{name: "nonsense on the host", version: "1.37", options: Options{BaseURL: h.URL}, fail: `answered "<html>"`},
		{
			name: "not among the modules", version: "1.36", options: Options{Source: Build},
			fail: "cannot find the newest patch of Kubernetes 1.36: `go list -m -versions k8s.io/kubernetes` has no release " +
				"of that minor",
		},
		{name: "no version", version: "latest", fail: `version "latest"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.CacheDir = t.TempDir()
			if test.options.Go == "" {
				test.options.Go = newFakeGo(t).path
			}
			for _, v := range test.cached {
				mustEnsure(t, newStore(t, Options{CacheDir: test.options.CacheDir, Source: Build, Go: newFakeGo(t).path}), v)
			}
			s := newStore(t, test.options)
			for _, v := range test.cached {
				if !s.Cached(v) {
					t.Errorf("%s is not cached", v)
				}
			}
			got, err := s.Resolve(t.Context(), test.version)
			if test.fail != "" {
				golden.Error(t, err, test.fail)
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// A host that fails, or that nobody reaches, says nothing about a version.
func TestUnanswered(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "go")
	golden.Write(t, broken, "#!/bin/sh\necho 'dial tcp: no route to host' >&2\nexit 1\n")
	h := newHost(t, "v1.34.12")
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer failing.Close()
	for name, c := range map[string]struct {
		options                  Options
		unanswered, notPublished bool
	}{
		"nothing is reachable":       {Options{BaseURL: gone(), Go: broken}, true, false},
		"the modules are not":        {Options{Source: Build, Go: broken}, true, false},
		"the host fails":             {Options{BaseURL: failing.URL, Go: "/nonexistent"}, true, false},
		"the host does not have it":  {Options{BaseURL: h.URL, Go: "/nonexistent"}, false, true},
		"the modules do not have it": {Options{Source: Build, Go: newFakeGo(t).path}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.CacheDir = t.TempDir()
			_, err := newStore(t, c.options).Resolve(t.Context(), "1.39")
			if err == nil || Unanswered(err) != c.unanswered || NotPublished(err) != c.notPublished {
				t.Errorf("unanswered %t, not published %t: %v", Unanswered(err), NotPublished(err), err)
			}
		})
	}
}

func TestUnreachableHostIsWaitedForOnce(t *testing.T) {
	g, h := newFakeGo(t), newHost(t, "v1.34.4")
	s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: gone(), Go: g.path})
	if v, err := s.Resolve(t.Context(), "1.34"); err != nil || v != "1.34.10" {
		t.Fatal(v, err)
	}
	s.options.BaseURL = h.URL // another request would succeed now
	mustEnsure(t, s, "1.34.10")
	if h.asked() > 0 {
		t.Error("the host was asked again")
	}
}

func TestOwnBuild(t *testing.T) {
	own := func(t *testing.T, version string) string {
		dir := t.TempDir()
		for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
			golden.Write(t, filepath.Join(dir, program), "#!/bin/sh\necho "+version+"\n")
		}
		return dir
	}
	t.Run("a development build", func(t *testing.T) {
		s := newStore(t,
			Options{BinDir: own(t, "Kubernetes v1.37.0-alpha.2.15+0a1b2c3d4e5f-dirty"), BaseURL: gone(), Go: "/nonexistent"})
		v, err := s.Resolve(t.Context(), "1.37")
		if err != nil || v != "1.37.0-alpha.2" {
			t.Fatalf("got %q, %v", v, err)
		}
		b := mustEnsure(t, s, v)
		if b.Dir != s.options.BinDir || b.Version != "1.37.0-alpha.2" {
			t.Errorf("got %+v", b)
		}
		built, err := b.Build("kube-scheduler")
		if err != nil || built == "" {
			t.Fatalf("%q, %v", built, err)
		}
		now := time.Now().Add(time.Hour)
		golden.Must(t, os.Chtimes(b.Path("kube-scheduler"), now, now))
		if rebuilt, err := b.Build("kube-scheduler"); err != nil || rebuilt == built {
			t.Errorf("a program that was built again: %q, %v", rebuilt, err)
		}
		_, err = s.Ensure(t.Context(), v, "kubectl", "kubelet")
		golden.Error(t, err, "has no kubectl, kubelet: build them too")
	})
	t.Run("another minor", func(t *testing.T) {
		s := newStore(t, Options{BinDir: own(t, "Kubernetes v1.36.0")})
		for _, version := range []string{"1.35", "1.36.1"} {
			_, err := s.Resolve(t.Context(), version)
			golden.Error(t, err, "are Kubernetes 1.36.0, not "+version+": use version", `"1.36"`)
		}
		_, err := s.Ensure(t.Context(), "1.36.1")
		golden.Error(t, err, "as Kubernetes 1.36.1", "says 1.36.0, not 1.36.1")
	})
	t.Run("no version", func(t *testing.T) {
		_, err := newStore(t, Options{BinDir: own(t, "hello")}).Resolve(t.Context(), "1.36")
		golden.Error(t, err, "cannot use the programs in", `printed "hello", not a version`)
	})
	t.Run("no programs", func(t *testing.T) {
		_, err := newStore(t, Options{BinDir: t.TempDir()}).Resolve(t.Context(), "1.36")
		golden.Error(t, err, "cannot use the programs in", "no such file")
	})
	t.Run("no list of gates", func(t *testing.T) {
		_, err := newStore(t, Options{BinDir: own(t, "Kubernetes v1.36.0")}).FeatureList(t.Context(), "1.36.0")
		wantNoList(t, err, "your own build")
	})
}
