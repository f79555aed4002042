package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// platform is a system and an architecture, as Go names them.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

func parsePlatforms(list string) ([]platform, error) {
	var all []platform
	for _, text := range listed(list) {
		system, arch, found := strings.Cut(text, "/")
		if !found || system == "" || arch == "" {
			return nil, fmt.Errorf("platform %q: want SYSTEM/ARCHITECTURE, such as linux/arm64", text)
		}
		all = append(all, platform{system, arch})
	}
	if len(all) == 0 {
		return nil, errors.New("no platform is named; want SYSTEM/ARCHITECTURE, such as linux/arm64")
	}
	return all, nil
}

// builder builds the program of a checkout.
type builder struct {
	source string
	// cache is Go's build cache; "" is the user's.
	cache string
}

// build writes the program for a platform into a file. The Go tool takes the version from Git: the tag's, or a
// pseudo-version.
func (b builder) build(ctx context.Context, p platform, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	work, remove, err := scratch.Folder("release")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // the next build tries again
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file,
		"./cmd/rehearse")
	command.Dir = b.source
	kept, err := goSettings(ctx)
	if err != nil {
		return err
	}
	// These override variables of the user's environment, and of go env -w, that would change the program.
	command.Env = slices.Concat(os.Environ(), kept, []string{
		"GOENV=off", "CGO_ENABLED=0", "GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "GOTMPDIR=" + work,
	})
	if b.cache != "" {
		command.Env = append(command.Env, "GOCACHE="+b.cache)
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", p, err, out)
	}
	return nil
}

// goSettings are those settings of the user's Go that say where modules come from and where files are kept.
func goSettings(ctx context.Context) ([]string, error) {
	names := []string{
		"GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOMODCACHE", "GOCACHE", "GOTOOLCHAIN",
	}
	out, err := exec.CommandContext(ctx, "go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("read the settings of Go: %w", err)
	}
	values := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(values) != len(names) {
		return nil, fmt.Errorf("read the settings of Go: go env printed %d values for %d names", len(values), len(names))
	}
	for i := range names {
		names[i] += "=" + values[i]
	}
	return names, nil
}

// buildAgain builds the same commit in another folder with an empty cache, and compares the results.
func buildAgain(ctx context.Context, source string, p platform, first string) error {
	dir, remove, err := scratch.Folder("release")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // the next build tries again
	clone := filepath.Join(dir, "clone")
	if _, err := git(ctx, source, "clone", "--quiet", ".", clone); err != nil {
		return err
	}
	second := filepath.Join(dir, "rehearse")
	if err := (builder{source: clone, cache: filepath.Join(dir, "cache")}).build(ctx, p, second); err != nil {
		return err
	}
	one, err := sumOf(first)
	if err != nil {
		return err
	}
	other, err := sumOf(second)
	if err != nil {
		return err
	}
	if !bytes.Equal(one, other) {
		return fmt.Errorf("two builds for %s differ: %x and %x; compare what `go version -m` says of them", p, one, other)
	}
	return nil
}

func sumOf(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return sum.Sum(nil), nil
}

// git runs a command of Git in a folder.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// program is a built program.
type program struct {
	platform platform
	file     string
	info     *buildinfo.BuildInfo
	// committed is the time of the commit. Every published file gets this time.
	committed time.Time
}

// readProgram reads what the Go tool recorded in a program. It rejects a program that cannot be reproduced.
func readProgram(p platform, file string) (*program, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read what %s was built from: %w", file, err)
	}
	built := &program{platform: p, file: file, info: info}
	if built.setting("vcs.revision") == "" {
		return nil, fmt.Errorf("%s was not built from a Git checkout", file)
	}
	if built.setting("vcs.modified") == "true" {
		return nil, errors.New("the checkout has changes that are not committed: commit or remove them (git status)")
	}
	if built.committed, err = time.Parse(time.RFC3339, built.setting("vcs.time")); err != nil {
		return nil, fmt.Errorf("%s does not say when its commit was made: %w", file, err)
	}
	return built, nil
}

func (p *program) setting(key string) string {
	for _, s := range p.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// version returns the program's version: a tag's name, or a pseudo-version.
func (p *program) version() string { return p.info.Main.Version }
