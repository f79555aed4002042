package documents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters/kustomization"
)

// DigestOf is equal for files and folders with the same objects in the same texts; "" for what cannot be read.
func DigestOf(name string) string {
	all, err := texts(name)
	if err != nil {
		return "" // the check of the system has reported it
	}
	sum := sha256.New()
	for _, one := range all {
		fmt.Fprintf(sum, "%d\x00%s", len(one.data), one.data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// text is what a file contains, or what kustomize builds of a folder.
type text struct {
	name string
	data []byte
}

// texts reads a file, a folder that kustomize builds, or the YAML files of another folder.
func texts(name string) ([]text, error) {
	files := []string{name}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read the objects to install: %w", err)
	}
	if info.IsDir() && kustomization.In(name) {
		built, err := kustomization.Build(name)
		return []text{{name, bytes.Join(built, []byte("---\n"))}}, err
	}
	if info.IsDir() {
		yml, err1 := filepath.Glob(filepath.Join(name, "*.yml"))
		files, err = filepath.Glob(filepath.Join(name, "*.yaml"))
		if err := errors.Join(err, err1); err != nil {
			return nil, fmt.Errorf("list the files of %s: %w", name, err)
		}
		if files = append(files, yml...); len(files) == 0 {
			return nil, fmt.Errorf("the folder %s contains no YAML file", name)
		}
	}
	var all []text
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the objects to install: %w", err)
		}
		all = append(all, text{file, data})
	}
	return all, nil
}
