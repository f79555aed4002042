package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
)

// Collect copies the components' logs and the cluster's record. Credentials are not copied.
func (c *Cluster) Collect(_ context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for logs: %w", err)
	}
	files := []string{filepath.Join(c.layout.Dir, folders.RecordFile)}
	for _, component := range c.components() {
		if component.Binary() != clusters.Scheduler {
			continue
		}
		config := c.layout.schedulerConfig(component)
		if _, err := os.Stat(config); err == nil { // a scheduler that has never started has none
			files = append(files, config)
		}
	}
	for _, logs := range c.LogFiles() {
		files = append(files, logs...)
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, copyFile(file, filepath.Join(dir, filepath.Base(file))))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("collect logs of cluster %s: %w", c.Name(), err)
	}
	return nil
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}
