package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	// buildCache is Go's build cache for a version, in the folder of the version. A version shares little but the
	// standard library with another, and needs 3 GB, so its cache is removed after the build. An interrupted build is
	// resumed.
	buildCache = "build-cache"
)

// build compiles programs from the module k8s.io/kubernetes of a version into dir, which is in the version's folder.
func (s *sources) build(ctx context.Context, v clusters.Version, programs []string, dir string) (string, error) {
	failed := func(err error) (string, error) {
		return "", fmt.Errorf("cannot build %s of Kubernetes %s: %w", strings.Join(programs, ", "), v, err)
	}
	tool, err := s.goTool()
	if err != nil {
		return failed(orPrograms(err))
	}
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o755); err != nil {
		return failed(err)
	}
	s.options.Progress("getting the module %s v%s", kubernetesModule, v)
	modules, err := tool.download(ctx, module, kubernetesModule+"@v"+v.String())
	if err != nil {
		return failed(err)
	}
	if err := writeMainModule(filepath.Join(module, "go.mod"), modules[0].GoMod, v); err != nil {
		return failed(err)
	}
	flags, err := stamps(v, modules[0].Info)
	if err != nil {
		return failed(err)
	}
	args := []string{"build", "-v", "-trimpath", "-ldflags", flags, "-o", dir + string(filepath.Separator)}
	for _, program := range programs {
		args = append(args, kubernetesModule+"/cmd/"+program)
	}
	what := fmt.Sprintf("%s %s", strings.Join(programs, ", "), v)
	s.options.Progress("building %s from source (a few minutes the first time)", what)
	counter := &buildCounter{what: what, every: every{now: s.options.Now}, progress: s.options.Progress}
	cache := filepath.Join(filepath.Dir(dir), buildCache)
	system, architecture, _ := strings.Cut(s.platform, "-")
	tool = tool.in(dir).with("GOCACHE="+cache, "GOOS="+system, "GOARCH="+architecture)
	_, err = tool.run(ctx, module, counter.line, args...)
	if ctx.Err() == nil {
		err = errors.Join(err, os.RemoveAll(cache))
	}
	if err != nil {
		return failed(err)
	}
	return fmt.Sprintf("built from %s v%s", kubernetesModule, v), nil
}

// stamps returns the linker flags that set a program's version, as in the official build.
func stamps(v clusters.Version, infoPath string) (string, error) {
	var info struct {
		Time   time.Time
		Origin struct{ Hash string }
	}
	data, err := os.ReadFile(infoPath)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return "", fmt.Errorf("%s: %w", infoPath, err)
	}
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, stamp := range [][2]string{
			{"gitVersion", "v" + v.String()},
			{"gitMajor", fmt.Sprint(v.Major)},
			{"gitMinor", fmt.Sprint(v.Minor)},
			{"gitCommit", info.Origin.Hash}, // empty if the module proxy does not provide it
			{"gitTreeState", "archive"},
			{"buildDate", info.Time.UTC().Format(time.RFC3339)}, // the release's own, so that a build is reproducible
		} {
			flags = append(flags, "-X", pkg+"."+stamp[0]+"="+stamp[1])
		}
	}
	return strings.Join(flags, " "), nil
}

// buildCounter reports the progress of `go build -v`, which lists each downloaded module and each compiled package.
type buildCounter struct {
	what              string
	modules, packages int
	every             every
	progress          clusters.Progress
}

// line takes one line of the build's output, and reports whether it is only progress.
func (c *buildCounter) line(line string) bool {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		c.modules++
		if c.every.due() {
			c.progress("building %s: %d modules downloaded so far", c.what, c.modules)
		}
	case line != "" && !strings.ContainsAny(line, " \t"):
		c.packages++
		if c.every.due() {
			c.progress("building %s: %d packages compiled so far", c.what, c.packages)
		}
	default:
		return false
	}
	return true
}
