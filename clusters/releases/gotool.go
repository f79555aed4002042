package releases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// keptLines is the number of last output lines of the Go tool in an error.
const keptLines = 20

// goTool runs the go command with additional environment variables.
type goTool struct {
	path string
	env  []string
}

// errNoGo reports that there is no go command on this machine.
var errNoGo = errors.New("the go command is not on the PATH: install Go (https://go.dev/dl/)")

// orPrograms adds that Kubernetes' programs need no Go if the user has them.
func orPrograms(err error) error {
	return fmt.Errorf("%w, or give the programs with --kubernetes-bin DIR", err)
}

func (s *sources) goTool() (goTool, error) {
	if s.options.Go != "" {
		return goTool{path: s.options.Go, env: s.options.GoEnv}, nil
	}
	path, err := exec.LookPath("go")
	if err != nil {
		return goTool{}, errNoGo
	}
	path, err = filepath.Abs(path)
	return goTool{path: path, env: s.options.GoEnv}, err
}

// with returns the tool with more environment variables. Variables that were added before take precedence.
func (g goTool) with(env ...string) goTool {
	g.env = slices.Concat(env, g.env)
	return g
}

// in returns the tool with a folder for its temporary files. It is killed when a build is interrupted, so it does not
// remove them itself.
func (g goTool) in(temp string) goTool { return g.with("GOTMPDIR=" + temp) }

// run runs the go command in a folder and returns its standard output. It passes each line of standard error to line,
// which reports whether it is only progress. The last other lines are part of the error.
func (g goTool) run(ctx context.Context, dir string, line func(string) bool, args ...string) ([]byte, error) {
	var out bytes.Buffer
	last := &lastLines{progress: line}
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, last
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+runtime.GOOS,
		"GOARCH="+runtime.GOARCH)
	cmd.Env = append(cmd.Env, g.env...)
	cmd.WaitDelay = 5 * time.Second
	err := processes.RunInGroup(cmd)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return out.Bytes(), fmt.Errorf("go %s: %w%s", strings.Join(args[:min(2, len(args))], " "), err, last.quoted())
	}
	return out.Bytes(), nil
}

// moduleInfo is the output of `go mod download -json` for a module.
type moduleInfo struct {
	Path, Version, Error string
	// Info, GoMod and Dir are paths in the module cache.
	Info, GoMod, Dir string
}

// download downloads modules (path@version) into Go's module cache, and returns their places in the same order.
func (g goTool) download(ctx context.Context, dir string, modules ...string) ([]moduleInfo, error) {
	out, runErr := g.run(ctx, dir, nil, append([]string{"mod", "download", "-json"}, modules...)...)
	found := make([]moduleInfo, len(modules))
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var m moduleInfo
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(runErr, fmt.Errorf("go mod download -json: %w", err))
		}
		if m.Error != "" {
			return nil, fmt.Errorf("go mod download %s@%s: %s", m.Path, m.Version, m.Error)
		}
		if i := slices.Index(modules, m.Path+"@"+m.Version); i >= 0 {
			found[i] = m
		}
	}
	if runErr != nil {
		return nil, runErr
	}
	for i, m := range found {
		if m.Path == "" {
			return nil, fmt.Errorf("go mod download -json says nothing of %s", modules[i])
		}
	}
	return found, nil
}

// lastLines keeps the last lines that are not progress.
type lastLines struct {
	progress func(string) bool
	kept     []string
	rest     []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.rest = rest
		l.take(string(line))
	}
}

func (l *lastLines) take(line string) {
	if l.progress != nil && l.progress(line) {
		return
	}
	l.kept = append(l.kept, line)
	l.kept = l.kept[max(0, len(l.kept)-keptLines):]
}

func (l *lastLines) quoted() string {
	if len(l.rest) > 0 {
		l.take(string(l.rest))
		l.rest = nil
	}
	if len(l.kept) == 0 {
		return ""
	}
	return "; it said last:\n  " + strings.Join(l.kept, "\n  ")
}
