// Package folder writes the files of a report.
package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Write writes files into a folder, by their paths in it. It creates missing folders. If it is stopped, each file has
// its old content or the new one.
func Write(dir string, files map[string][]byte) error {
	var errs []error
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			errs = append(errs, fmt.Errorf("making the folder of the report %s: %w", path, err))
			continue
		}
		errs = append(errs, ReplaceFile(path, data))
	}
	return errors.Join(errs...)
}

// TemporaryPrefix begins the names of the files that ReplaceFile leaves if its process is killed.
func TemporaryPrefix(file string) string { return "." + file + ".tmp-" }

// ReplaceFile writes a file atomically: a reader of the file sees either the whole old content or the whole new one.
func ReplaceFile(path string, data []byte) (err error) {
	dir, file := filepath.Split(path)
	temporary := filepath.Join(dir, fmt.Sprintf("%s%d", TemporaryPrefix(file), os.Getpid()))
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the report %s: %w", path, err)
			_ = os.Remove(temporary)
		}
	}()
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// JSON returns a report as indented JSON.
func JSON(report any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return nil, fmt.Errorf("write the report as JSON: %w", err)
	}
	return b.Bytes(), nil
}
