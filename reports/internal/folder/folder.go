// Package folder writes the files of a report.
package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Write writes files into a folder, by their paths in it. It creates missing folders. If it is stopped, each file has
// its old content or the new one. It removes what killed processes left. A name that leads out of the folder is an
// error: names may come from the reports of others.
func Write(dir string, files map[string][]byte) error {
	var errs []error
	for name, data := range files {
		path := filepath.Join(dir, name)
		if !filepath.IsLocal(name) {
			errs = append(errs, fmt.Errorf("writing the report %s: %q leads out of its folder", path, name))
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			errs = append(errs, fmt.Errorf("making the folder of the report %s: %w", path, err))
			continue
		}
		errs = append(errs, ReplaceFile(path, data))
	}
	if err := Sweep(dir); !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// temporary is the name of a file that ReplaceFile leaves if its process is killed.
var temporary = regexp.MustCompile(`^\..+\.tmp-[0-9]+$`)

func temporarySuffix() string { return fmt.Sprintf(".tmp-%d", os.Getpid()) }

// Sweep removes what killed processes left in a folder, while they wrote a report. It leaves what this process writes.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the report folder: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if !temporary.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), temporarySuffix()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// ReplaceFile writes a file atomically: a reader of the file sees either the whole old content or the whole new one.
func ReplaceFile(path string, data []byte) (err error) {
	dir, file := filepath.Split(path)
	unfinished := filepath.Join(dir, "."+file+temporarySuffix())
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the report %s: %w", path, err)
			_ = os.Remove(unfinished)
		}
	}()
	if err := os.WriteFile(unfinished, data, 0o644); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
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
