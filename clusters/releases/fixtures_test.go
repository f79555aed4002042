package releases

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fakeGo is the script testdata/go with its own folder.
type fakeGo struct{ dir, path string }

func newFakeGo(t *testing.T) fakeGo {
	t.Helper()
	script, err := filepath.Abs("testdata/go")
	golden.Must(t, err)
	g := fakeGo{dir: t.TempDir()}
	g.path = filepath.Join(g.dir, "go")
	golden.Must(t, os.Symlink(script, g.path))
	g.copy(t, "testdata/kubernetes.mod", "modules/k8s.io/kubernetes/go.mod")
	g.write(t, "versions", "v1.34.0 v1.34.9 v1.34.10 v1.34.11-rc.0 v1.35.1 v1.36.0-alpha.1")
	return g
}

// withFeatures gives the fake modules the files that the list of feature gates is read from.
func (g fakeGo) withFeatures(t *testing.T) fakeGo {
	t.Helper()
	for module, files := range map[string][]string{
		"kubernetes": {"pkg/features/kube_features.go", "test/compatibility_lifecycle/reference/versioned_feature_list.yaml"},
		"client-go":  {"features/known_features.go"},
	} {
		for _, file := range files {
			g.copy(t, filepath.Join("../features/testdata", module, file), filepath.Join("modules/k8s.io", module, file))
		}
	}
	return g
}

func (g fakeGo) copy(t *testing.T, from, to string) {
	t.Helper()
	g.write(t, to, golden.Read(t, from))
}

func (g fakeGo) write(t *testing.T, name, text string) {
	golden.Write(t, filepath.Join(g.dir, name), text)
}

// calls returns how often a subcommand was called.
func (g fakeGo) calls(t *testing.T, subcommand string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(g.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	return len(slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, subcommand+" ") }))
}

// host is a release host that has one version.
type host struct {
	*httptest.Server
	files map[string]string

	mutex    sync.Mutex
	requests []string
}

func newHost(t *testing.T, version string) *host {
	t.Helper()
	h := &host{files: map[string]string{"/release/stable-1.34.txt": version + "\n"}}
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		h.put(version, program, "#!/bin/sh\necho Kubernetes "+version+"\n")
	}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mutex.Lock()
		h.requests = append(h.requests, r.URL.Path)
		text, found := h.files[r.URL.Path]
		h.mutex.Unlock()
		if !found {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(h.Close)
	return h
}

// put publishes a program with its checksum.
func (h *host) put(version, program, text string) {
	path := fmt.Sprintf("/release/%s/bin/%s/%s/%s", version, runtime.GOOS, runtime.GOARCH, program)
	sum := sha256.Sum256([]byte(text))
	h.files[path], h.files[path+".sha256"] = text, hex.EncodeToString(sum[:])
}

// asked returns the number of requests.
func (h *host) asked() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return len(h.requests)
}

// change changes every file whose path ends with the suffix.
func (h *host) change(suffix string, change func(string) string) {
	for path, text := range h.files {
		if strings.HasSuffix(path, suffix) {
			h.files[path] = change(text)
		}
	}
}

// gone returns the address of a host that does not answer.
func gone() string { return "http://127.0.0.1:1" }

// said collects progress.
type said struct {
	mutex sync.Mutex
	lines []string
}

func (s *said) progress(format string, args ...any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *said) contains(text string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return strings.Contains(strings.Join(s.lines, "\n"), text)
}

func newStore(t *testing.T, o Options) *Store {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = t.TempDir()
	}
	s, err := New(o)
	golden.Must(t, err)
	return s
}

func mustEnsure(t *testing.T, s *Store, version string, programs ...string) Binaries {
	t.Helper()
	b, err := s.Ensure(t.Context(), version, programs...)
	golden.Must(t, err)
	return b
}
