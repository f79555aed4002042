package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// withLogs replaces logs of pods by the report folders in them. remove deletes these folders.
func withLogs(paths []string, progress func(string, ...any)) (folders []string, remove func(), err error) {
	var logs []string
	for _, path := range paths {
		isLog, err := looksLikeALog(path)
		if err != nil {
			return nil, nil, err
		}
		if isLog {
			logs = append(logs, path)
			continue
		}
		folders = append(folders, path)
	}
	if len(logs) == 0 {
		return folders, func() {}, nil
	}
	dir, discard, err := scratch.Folder("merge")
	if err != nil {
		return nil, nil, fmt.Errorf("unpack the reports of the logs: %w", err)
	}
	remove = func() { _ = discard() } // the next run tries again
	latest, err := unpackLogs(logs, dir, progress)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return append(folders, latest...), remove, nil
}

// looksLikeALog reports whether a file is anything but JSON.
func looksLikeALog(path string) (bool, error) {
	if cli.IsFolder(path) {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read a run: %w", err)
	}
	defer file.Close()
	start := make([]byte, 512)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read a run: %w", err)
	}
	return !bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte("{")), nil
}

// unpackLogs unpacks each report in the logs into a folder. It returns one folder for each shard.
func unpackLogs(logs []string, dir string, progress func(string, ...any)) ([]string, error) {
	found := &inLogs{progress: progress, shards: map[shardOfRun]*attempts{}, readable: map[string]bool{}}
	for i, log := range logs {
		if err := found.read(log, filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return nil, err
		}
	}
	return found.folders()
}
