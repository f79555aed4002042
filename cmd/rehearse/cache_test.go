package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// cacheOf gives the test its own cache, with the feature gates of some versions.
func cacheOf(t *testing.T, lists ...features.List) {
	t.Helper()
	root := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", root)
	for _, list := range lists {
		writeRecord(t, filepath.Join(cachedVersion(root, list.Version), "features.json"), map[string]any{
			"format": 2, "list": list,
		})
	}
}

// cacheOfVersion makes a cache that has a record of a version's control plane, so that the newest patch of its minor
// version is known on every machine.
func cacheOfVersion(t *testing.T, version string) (root string) {
	t.Helper()
	root = t.TempDir()
	programs := map[string]struct{}{}
	for _, c := range clusters.ControlPlane() {
		programs[string(c)] = struct{}{}
	}
	platform := runtime.GOOS + "-" + runtime.GOARCH
	writeRecord(t, filepath.Join(cachedVersion(root, version), platform, "manifest.json"), map[string]any{
		"version": version, "programs": programs,
	})
	return root
}

// cachedVersion returns the folder of a version in a cache.
func cachedVersion(root, version string) string {
	return filepath.Join(root, "rehearse", "kubernetes", "v"+version)
}

// writeRecord writes a file of a cache as JSON.
func writeRecord(t *testing.T, file string, record any) {
	t.Helper()
	data, err := json.Marshal(record)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
