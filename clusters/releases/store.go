// Package releases gets the programs and the feature gate list of a Kubernetes version, and programs of Go modules.
// It keeps them in a cache that several processes can share.
package releases

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Source is where to get programs that are not in the cache. It does not restrict the use of the cache.
type Source string

const (
	// Auto downloads, or builds if the release host cannot be reached.
	Auto Source = "auto"
	// Download takes the official programs and verifies their published checksums.
	Download Source = "download"
	// Build compiles the module k8s.io/kubernetes with the Go tool.
	Build Source = "build"
)

// Sources lists every Source, for a flag's help.
func Sources() []Source { return []Source{Auto, Download, Build} }

// Options of a Store.
type Options struct {
	// CacheDir is the folder of the cache; the store creates it. Default: the folder of UserCache.
	CacheDir string
	// BundleDir is a read-only folder with the layout of CacheDir; a version is searched there first. Default:
	// $REHEARSE_KUBERNETES.
	BundleDir string
	// Source of programs that are not in the cache. Default: Auto.
	Source Source
	// BinDir is a folder with the user's own build of the programs. If it is set, nothing else is used or downloaded.
	BinDir string
	// Platform of the programs, such as linux-arm64; those of another platform are only stored. Default: this one.
	Platform string
	// Refresh makes Resolve look for the newest patch even if the cache has one.
	Refresh bool
	// HTTPClient for downloads. Default: one with timeouts for an unresponsive host.
	HTTPClient *http.Client
	// BaseURL of the release host. Default: https://dl.k8s.io.
	BaseURL string
	// Go is the Go tool. Default: the one on the PATH.
	Go string
	// GoEnv is added to the Go tool's environment: NAME=VALUE. Default: nothing.
	GoEnv []string
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// From returns the options for a provider's setup.
func From(s clusters.Setup) Options {
	return Options{Source: Source(s.Source), BinDir: s.BinDir, CacheDir: s.CacheDir, Progress: s.Progress}
}

// Store gets and stores Kubernetes programs. It is safe for concurrent use, also by several processes.
type Store struct{ sources }

// sources are the sources of programs that are not in the cache yet: the release host, and the Go tool.
type sources struct {
	options  Options
	platform string
	// unreachable records that the release host did not answer, so that only the first attempt waits for it.
	unreachable atomic.Bool
	// checked are the entries of modules whose files were found as they were stored.
	checked sync.Map
	lists   listCache
}

const thisPlatform = runtime.GOOS + "-" + runtime.GOARCH

// New returns a store. It uses neither disk nor network.
func New(o Options) (*Store, error) {
	if o.Source == "" {
		o.Source = Auto
	}
	if !slices.Contains(Sources(), o.Source) {
		return nil, fmt.Errorf("source %q of Kubernetes programs: want auto, download or build", o.Source)
	}
	if o.CacheDir == "" {
		var err error
		if o.CacheDir, err = UserCache(); err != nil {
			return nil, err
		}
	}
	if o.BundleDir == "" {
		o.BundleDir = os.Getenv(BundleVariable)
	}
	if o.HTTPClient == nil {
		o.HTTPClient = defaultClient()
	}
	if o.BaseURL == "" {
		o.BaseURL = "https://dl.k8s.io"
	}
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Platform == "" {
		o.Platform = thisPlatform
	}
	return &Store{sources: sources{options: o, platform: o.Platform}}, nil
}

// UserCache is the folder under the user's cache directory for programs and clusters.
func UserCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the cache: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "rehearse"), nil
}

// CacheDir returns the folder of the cache.
func (s *Store) CacheDir() string { return s.options.CacheDir }

// Binaries are the programs of one version, in one folder.
type Binaries struct {
	// Version without a leading v: "1.34.4".
	Version string
	// Dir is the folder that contains them.
	Dir string
	// Own: they are the user's own build, which may be built again at the same path.
	Own bool
}

// Path of one program: "kube-apiserver".
func (b Binaries) Path(program string) string { return filepath.Join(b.Dir, program) }

// knownPrograms are the available programs; each is the last element of its package k8s.io/kubernetes/cmd/....
var knownPrograms = []string{
	"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubeadm", "kubectl", "kubelet",
}

// Ensure returns the programs of an exact version, and gets those that are not in the cache: always those of the
// control plane, and any others that are named (kubectl, kubelet, kubeadm, kube-proxy).
func (s *Store) Ensure(ctx context.Context, version string, programs ...string) (Binaries, error) {
	v, err := exact(version)
	if err != nil {
		return Binaries{}, err
	}
	want, err := wanted(programs)
	if err != nil {
		return Binaries{}, err
	}
	if s.options.BinDir != "" {
		return s.ownBinaries(ctx, v, want)
	}
	if !s.onLinux() {
		return Binaries{}, fmt.Errorf("local control planes need Linux, and this is %s: use a Linux machine; run, "+
			"conformance and matrix also take --provider kind or existing", s.platform)
	}
	e := s.entry(v, programs...)
	found := Binaries{Version: v.String(), Dir: e.dir}
	lacking, err := e.lacking(want)
	if err == nil && len(lacking) == 0 {
		return found, nil
	}
	unlock, err := e.lock(ctx, lockName, s.options.Progress)
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()
	err = s.complete(ctx, e, want, func(lacking []string, temp string) (string, error) {
		return s.fetchProven(ctx, v, lacking, temp)
	})
	if err != nil {
		return Binaries{}, err
	}
	return found, nil
}

// complete gets what the entry lacks: get puts programs into a temporary folder, and returns their source. The caller
// holds the entry's lock.
func (s *Store) complete(ctx context.Context, e entry, want []string,
	get func(lacking []string, temp string) (source string, err error),
) error {
	if err := e.removeLeftovers(); err != nil {
		return err
	}
	lacking, err := e.repair(ctx, want, s.options.Progress)
	if err != nil || len(lacking) == 0 {
		return err
	}
	temp, remove, err := e.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	source, err := get(lacking, temp)
	if err != nil {
		return err
	}
	return e.publish(temp, lacking, source)
}

// fetchProven is fetch, and checks that the programs report the version.
func (s *sources) fetchProven(ctx context.Context, v clusters.Version, programs []string, dir string) (string, error) {
	source, err := s.fetch(ctx, v, programs, dir)
	if err != nil {
		return "", err
	}
	if s.platform != thisPlatform {
		return source, nil // they cannot run here
	}
	for _, program := range programs {
		if err := provesVersion(ctx, filepath.Join(dir, program), v); err != nil {
			return "", fmt.Errorf("%s (%s) is damaged: %w", program, source, err)
		}
	}
	return source, nil
}

// fetch puts the programs into dir and returns their source.
func (s *sources) fetch(ctx context.Context, v clusters.Version, programs []string, dir string) (string, error) {
	if s.downloads() {
		source, err := s.download(ctx, v, programs, dir)
		if err == nil || !s.buildsInstead(err) {
			return source, err
		}
	}
	return s.build(ctx, v, programs, dir)
}

// downloads reports whether to try a download.
func (s *sources) downloads() bool {
	return s.options.Source == Download || s.options.Source == Auto && !s.unreachable.Load()
}

// onLinux reports whether the programs run here: control planes and our processes support only Linux.
func (s *sources) onLinux() bool { return strings.HasPrefix(s.platform, "linux-") }

// buildsInstead reports whether to build after a failed download: only if the host could not be reached.
func (s *sources) buildsInstead(err error) bool {
	var unreachable *unreachableError
	if s.options.Source != Auto || !errors.As(err, &unreachable) {
		return false
	}
	if !s.unreachable.Swap(true) {
		s.options.Progress("%s cannot be reached (%v): using the module k8s.io/kubernetes instead", s.options.BaseURL,
			unreachable.cause)
	}
	return true
}

func wanted(programs []string) ([]string, error) {
	var want []string
	for _, c := range clusters.ControlPlane() {
		want = append(want, string(c))
	}
	for _, p := range programs {
		if !slices.Contains(knownPrograms, p) {
			return nil, fmt.Errorf("no program of Kubernetes is called %q; there are %s", p, strings.Join(knownPrograms, ", "))
		}
		if !slices.Contains(want, p) {
			want = append(want, p)
		}
	}
	return want, nil
}

func exact(version string) (clusters.Version, error) {
	v, err := clusters.ParseVersion(version)
	if err != nil {
		return v, err
	}
	if !v.Exact() {
		return v, fmt.Errorf("version %q is not one release: resolve it first", version)
	}
	return v, nil
}
