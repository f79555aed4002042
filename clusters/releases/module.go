package releases

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"

	"github.com/rehearse-dev/rehearse/clusters"
)

// sourceName is the folder of a module's files in its entry.
const sourceName = "source"

// CachedModule returns a program of a Go module; false if the cache does not have it unchanged. It needs neither the
// network nor the Go tool.
func (s *Store) CachedModule(m clusters.ModuleProgram) (clusters.BuiltModule, bool) {
	e, err := s.moduleEntry(m)
	if err != nil {
		return clusters.BuiltModule{}, false
	}
	lacking, err := e.lacking([]string{programName(m)})
	if err != nil || len(lacking) > 0 {
		return clusters.BuiltModule{}, false
	}
	intact, err := s.intact(e)
	return e.built(m), err == nil && intact
}

// BuildModule returns a program of a Go module, and builds it if it is not in the cache.
func (s *Store) BuildModule(ctx context.Context, m clusters.ModuleProgram) (clusters.BuiltModule, error) {
	if built, cached := s.CachedModule(m); cached {
		if e, err := s.moduleEntry(m); err == nil {
			s.adopt(ctx, e)
		}
		return built, nil
	}
	built, err := s.buildModule(ctx, m)
	if err != nil {
		return clusters.BuiltModule{}, fmt.Errorf("cannot build %s: %w", m, err)
	}
	return built, nil
}

func (s *Store) buildModule(ctx context.Context, m clusters.ModuleProgram) (clusters.BuiltModule, error) {
	e, err := s.moduleEntry(m)
	if err != nil {
		return clusters.BuiltModule{}, err
	}
	tool, err := s.goTool()
	if err != nil {
		return clusters.BuiltModule{}, err
	}
	unlock, err := e.lock(ctx, lockName, s.options.Progress)
	if err != nil {
		return clusters.BuiltModule{}, err
	}
	defer unlock()
	intact, err := s.intact(e)
	if err != nil {
		return clusters.BuiltModule{}, err
	}
	if !intact {
		if isFolder(e.source()) {
			s.options.Progress("the files in %s are no longer what was stored: getting them again", e.source())
		}
		if err := s.storeSource(ctx, tool, e, m); err != nil {
			return clusters.BuiltModule{}, err
		}
	}
	return e.built(m), s.complete(ctx, e, []string{programName(m)}, func(_ []string, temp string) (string, error) {
		return s.compile(ctx, tool, e, m, temp)
	})
}

// moduleEntry returns the place of a module's version in the cache.
func (s *Store) moduleEntry(m clusters.ModuleProgram) (entry, error) {
	if err := m.Check(); err != nil {
		return entry{}, err
	}
	escaped, err1 := module.EscapePath(m.Path)
	version, err2 := module.EscapeVersion(m.Version)
	if err := errors.Join(err1, err2); err != nil {
		return entry{}, err
	}
	home := filepath.Join(s.options.CacheDir, "modules", filepath.FromSlash(escaped)+"@"+version)
	return entry{
		what: m.Path + "@" + m.Version, recorded: m.Version, home: home, dir: filepath.Join(home, s.platform),
	}, nil
}

// source returns the folder of the module's files.
func (e entry) source() string { return filepath.Join(e.home, sourceName) }

func (e entry) built(m clusters.ModuleProgram) clusters.BuiltModule {
	return clusters.BuiltModule{Program: filepath.Join(e.dir, programName(m)), Dir: e.source()}
}

// programName returns a name for a program that is unique in its module: gatekeeper, or cmd-operator. Where another
// folder could have the same name, it ends with a checksum.
func programName(m clusters.ModuleProgram) string {
	prefix, _, _ := module.SplitPathVersion(m.Path)
	root, folder := path.Base(prefix), m.Folder()
	switch {
	case folder == ".":
		return root
	case folder == root || strings.Contains(folder, "-"):
		return fmt.Sprintf("%s-%x", strings.ReplaceAll(folder, "/", "-"), sha256.Sum256([]byte(folder)))[:len(folder)+9]
	}
	return strings.ReplaceAll(folder, "/", "-")
}

// storeSource downloads a module's files into the cache, instead of what is there.
func (s *sources) storeSource(ctx context.Context, tool goTool, e entry, m clusters.ModuleProgram) error {
	temp, remove, err := e.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	l := layout{tool: tool, dir: filepath.Join(temp, sourceName), module: m, progress: s.options.Progress}
	if err := l.fetch(ctx, m.Path, "."); err != nil {
		return err
	}
	if err := e.clear(); err != nil {
		return err
	}
	if err := os.Rename(l.dir, e.source()); err != nil {
		return fmt.Errorf("put the module's files into the cache: %w", err)
	}
	return nil
}

// compile builds a program in its module's own main module, so that the replacements in its go.mod apply.
func (s *sources) compile(ctx context.Context, tool goTool, e entry, m clusters.ModuleProgram, temp string) (string,
	error,
) {
	l := layout{tool: tool, dir: e.source(), module: m, progress: s.options.Progress}
	main, err := l.prepare(ctx)
	// The files that were added stay, even if others cannot be got or the build fails.
	if err := errors.Join(err, s.recordFiles(e)); err != nil {
		return "", err
	}
	tool = tool.in(temp).with("GOFLAGS=-mod=readonly")
	dir, pkg := filepath.Join(l.dir, filepath.FromSlash(main)), "./"+relativeFolder(main, m.Folder())
	what := m.String()
	s.options.Progress("building %s (a few minutes the first time)", what)
	counter := &buildCounter{what: what, every: every{now: s.options.Now}, progress: s.options.Progress}
	name, err := tool.run(ctx, dir, counter.line, "list", "-f", "{{.Name}}", pkg)
	if err != nil {
		return "", err
	}
	if name := strings.TrimSpace(string(name)); name != "main" {
		return "", fmt.Errorf("it is the package %s, not a program: set package to the folder of a main package", name)
	}
	_, err = tool.run(ctx, dir, counter.line, "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o",
		filepath.Join(temp, programName(m)), pkg)
	if err != nil {
		return "", err
	}
	return "built from " + m.String(), nil
}

func relativeFolder(from, to string) string {
	if from == "." {
		return to
	}
	return strings.TrimPrefix(strings.TrimPrefix(to, from), "/")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isThere reports whether a file or folder exists.
func isThere(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
