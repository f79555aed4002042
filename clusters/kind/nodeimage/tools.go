package nodeimage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

//go:embed sources/coredns.go.txt
var corednsSource []byte

//go:embed sources/pause.go.txt
var pauseSource []byte

// toolStore builds programs that are not part of Kubernetes, each content once.
type toolStore struct {
	dir      string
	tool     goTool
	progress clusters.Progress
}

func (s *toolStore) etcd(ctx context.Context, version string) (string, error) {
	return s.build(ctx, "etcd", "go.etcd.io/etcd/server/v3 "+version, nil, "go.etcd.io/etcd/server/v3")
}

func (s *toolStore) coredns(ctx context.Context, version string) (string, error) {
	return s.build(ctx, "coredns", "github.com/coredns/coredns "+version, corednsSource, ".")
}

func (s *toolStore) pause(ctx context.Context) (string, error) {
	return s.build(ctx, "pause", "", pauseSource, ".")
}

// build compiles a package in a new main module with at most one requirement, and with main.go from source if given.
func (s *toolStore) build(ctx context.Context, name, requirement string, source []byte, pkg string) (string, error) {
	module := "module rehearse.invalid/" + name + "\n\ngo 1.24\n"
	if requirement != "" {
		module += "\nrequire " + requirement + "\n"
	}
	sum := sha256.Sum256(append([]byte(module), source...))
	dir := filepath.Join(s.dir, name+"-"+hex.EncodeToString(sum[:8]))
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if requirement == "" {
		requirement = name
	}
	s.progress("building %s", requirement)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder of the cache: %w", err)
	}
	work, remove, err := scratch.In(dir, "build-")
	if err != nil {
		return "", err
	}
	defer func() { _ = remove() }() // the next run tries again
	files := map[string][]byte{"go.mod": []byte(module)}
	if source != nil {
		files["main.go"] = source
	}
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(work, file), content, 0o644); err != nil {
			return "", fmt.Errorf("build %s: %w", name, err)
		}
	}
	built := filepath.Join(work, name)
	if _, err := s.tool.run(ctx, work, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", built,
		pkg); err != nil {
		return "", fmt.Errorf("build %s: %w", requirement, err)
	}
	if err := os.Rename(built, path); err != nil { // complete, or not there
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return path, nil
}
