package releases

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestDownload(t *testing.T) {
	h, heard := newHost(t, "v1.34.4"), new(said)
	s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: h.URL, Source: Download, Progress: heard.progress})
	b := mustEnsure(t, s, "1.34.4", "kubectl")
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		if !strings.Contains(golden.Read(t, b.Path(program)), "echo Kubernetes v1.34.4") {
			t.Errorf("%s is not what the host has", program)
		}
	}
	if b.Version != "1.34.4" || !strings.HasSuffix(b.Dir, filepath.Join("kubernetes", "v1.34.4", s.platform)) {
		t.Errorf("got %+v", b)
	}
	m, err := readManifest(b.Dir)
	if err != nil || !strings.HasPrefix(m.Programs["kubectl"].Source, "downloaded from "+h.URL) {
		t.Errorf("manifest %+v, %v", m, err)
	}
	if !heard.contains("downloading kube-apiserver 1.34.4, 0 of 0 MB") {
		t.Errorf("said %q", heard.lines)
	}
	before := h.asked()
	mustEnsure(t, newStore(t, s.options), "v1.34.4", "kubectl")
	if h.asked() != before {
		t.Error("a warm start asked the host")
	}
}

func TestDownloadFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*host)
		want   []string
	}{
		{"wrong checksum", func(h *host) {
			h.change("kube-scheduler", func(text string) string { return text + "# tampered\n" })
		}, []string{"cannot download kube-scheduler of Kubernetes 1.34.4", "has the SHA-256 sum", "the file is discarded"}},
		{
			"no checksum", func(h *host) { h.change(".sha256", func(string) string { return "<html>" }) },
			[]string{"contains no SHA-256 sum"},
		},
		{"no such release", func(h *host) { clear(h.files) }, []string{"404 Not Found", "no such release", "--source=build"}},
		{"another version", func(h *host) {
			h.put("v1.34.4", "kube-apiserver", "#!/bin/sh\necho Kubernetes v1.34.5\n")
		}, []string{"kube-apiserver --version says 1.34.5, not 1.34.4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, g := newHost(t, "v1.34.4"), newFakeGo(t)
			test.change(h)
			s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: h.URL, Source: Auto, Go: g.path})
			_, err := s.Ensure(t.Context(), "1.34.4")
			golden.Error(t, err, test.want...)
			if g.calls(t, "build") > 0 {
				t.Error("built, though the host answered")
			}
			if _, found, err := s.newestCached(mustExact(t, "1.34.4")); found || err != nil {
				t.Errorf("it is in the cache: %v", err)
			}
			wantNoLeftovers(t, s, "1.34.4")
		})
	}
}

func TestAutoBuildsWhenUnreachable(t *testing.T) {
	g, heard := newFakeGo(t), new(said)
	s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: gone(), Go: g.path, Progress: heard.progress})
	mustEnsure(t, s, "1.34.4")
	if g.calls(t, "build") != 1 || !heard.contains("cannot be reached") {
		t.Errorf("%d builds; said %q", g.calls(t, "build"), heard.lines)
	}
}

func TestDownloadDoesNotBuildWhenUnreachable(t *testing.T) {
	g := newFakeGo(t)
	s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: gone(), Go: g.path, Source: Download})
	_, err := s.Ensure(t.Context(), "1.34.4")
	golden.Error(t, err, "cannot download kube-apiserver of Kubernetes 1.34.4", "cannot reach the host")
	if g.calls(t, "build") > 0 {
		t.Error("built all the same")
	}
}

func TestCancelledDownloadIsNotUnreachable(t *testing.T) {
	g, h := newFakeGo(t), newHost(t, "v1.34.4")
	s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: h.URL, Go: g.path})
	ctx, cancel := context.WithCancel(t.Context())
	s.options.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, ctx.Err()
	})}
	_, err := s.Ensure(ctx, "1.34.4")
	if !errors.Is(err, context.Canceled) || g.calls(t, "build") > 0 {
		t.Errorf("got %v and %d builds", err, g.calls(t, "build"))
	}
}

func TestStalledDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		reader, writer := io.Pipe()
		context.AfterFunc(ctx, func() { _ = writer.CloseWithError(errors.New("aborted")) })
		body := newPatientBody(ctx, cancel, reader, time.Minute)
		defer body.Close()
		go func() {
			time.Sleep(50 * time.Second)
			_, _ = writer.Write([]byte("late, "))
			time.Sleep(50 * time.Second)
			_, _ = writer.Write([]byte("but it comes"))
		}()
		got, err := io.ReadAll(body)
		if string(got) != "late, but it comes" {
			t.Errorf("got %q", got)
		}
		golden.Error(t, err, "nothing came for 1m0s")
	})
}

func TestByteCounter(t *testing.T) {
	now, heard := time.Unix(1, 0), new(said)
	c := &byteCounter{what: "it", total: 5e6, every: every{now: func() time.Time { return now }}, progress: heard.progress}
	for _, wait := range []time.Duration{0, 400 * time.Millisecond, 500 * time.Millisecond, 100 * time.Millisecond, 0} {
		now = now.Add(wait)
		_, _ = c.Write(make([]byte, 1e6))
	}
	if got := strings.Join(heard.lines, "; "); got != "downloading it, 1 of 5 MB; downloading it, 4 of 5 MB" {
		t.Error(got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func wantNoLeftovers(t *testing.T, s *Store, version string) {
	t.Helper()
	e := s.entry(mustExact(t, version))
	for _, dir := range []string{e.home, e.dir} {
		files, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasPrefix(f.Name(), tempPrefix) {
				t.Errorf("%s was left in %s", f.Name(), dir)
			}
		}
	}
}
