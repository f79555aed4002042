package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters"
)

var _ clusters.Snapshotter = (*Cluster)(nil)

func (l layout) data() string                { return filepath.Join(l.Dir, "etcd") }
func (l layout) snapshot(name string) string { return filepath.Join(l.Dir, "snapshots", name) }

// Snapshot copies etcd's data. It pauses etcd during the copy, so that the files are consistent.
func (c *Cluster) Snapshot(_ context.Context, name string) (err error) {
	kept := c.layout.snapshot(name)
	if _, err := os.Stat(kept); err == nil {
		return fmt.Errorf("snapshot %s of cluster %s: a snapshot of that name exists", name, c.Name())
	}
	if err := c.copyData(kept); err != nil {
		return fmt.Errorf("snapshot %s of cluster %s: %w", name, c.Name(), err)
	}
	return nil
}

// copyData copies etcd's data into a new folder. For an etcd that starts from the copy, it looks as if etcd had
// crashed.
func (c *Cluster) copyData(to string) error {
	copied := func() error { return copyTree(c.layout.data(), to) }
	process := c.process(etcdProcess)
	if process == nil { // it was killed
		return keepWhole(to, copied())
	}
	return keepWhole(to, process.Frozen(copied))
}

// keepWhole removes an incomplete copy: it removes the folder if there is an error.
func keepWhole(dir string, err error) error {
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

// Restore restores etcd's data. It restarts every running component, because each may have read newer data.
func (c *Cluster) Restore(ctx context.Context, name string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore snapshot %s of cluster %s: %w", name, c.Name(), err)
		}
	}()
	kept := c.layout.snapshot(name)
	if _, err := os.Stat(kept); err != nil {
		return fmt.Errorf("the snapshot does not exist: %w", err)
	}
	order := []string{etcdProcess}
	for _, component := range c.components() {
		order = append(order, string(component))
	}
	order = append(order, nodesProcess, dnsProcess)
	var ran []string
	for _, process := range order {
		if c.process(process) != nil {
			ran = append(ran, process)
		}
	}
	for i := len(ran) - 1; i >= 0; i-- {
		if err := c.stop(ctx, ran[i]); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(c.layout.data()); err != nil {
		return err
	}
	if err := copyTree(kept, c.layout.data()); err != nil {
		return err
	}
	return c.startAll(ctx, ran)
}

// startAll starts processes with unchanged arguments, in the given order. It skips the DNS server, which starts on
// demand.
func (c *Cluster) startAll(ctx context.Context, names []string) error {
	usable := false
	for _, name := range names {
		if name == dnsProcess {
			continue
		}
		if err := c.again(ctx, name); err != nil {
			return err
		}
		usable = usable || isAPIServer(clusters.Component(name))
	}
	if !usable {
		return nil
	}
	if err := c.usable(ctx); err != nil {
		return err
	}
	// The nodes may have changed since the snapshot.
	if err := c.convergeNodes(ctx, c.State()); err != nil {
		return err
	}
	return c.led(ctx, c.State()) // the leases are those of processes that have ended
}

// stop ends a process if it is running.
func (c *programs) stop(ctx context.Context, name string) error {
	defer c.changing.Lock(name)()
	process := c.process(name)
	if process == nil {
		return nil
	}
	if err := process.Kill(ctx); err != nil {
		return err
	}
	c.forget(name)
	return nil
}

// again starts or restarts a process with unchanged arguments, and returns when it is ready.
func (c *roller) again(ctx context.Context, name string) error {
	c.mu.Lock()
	s, known := c.record.Processes[name]
	c.mu.Unlock()
	if !known {
		return fmt.Errorf("start %s: it never ran", name)
	}
	if err := c.replace(ctx, name, s); err != nil {
		return err
	}
	if name == nodesProcess {
		return nil // it counts as ready when the nodes are ready
	}
	return c.ready(ctx, clusters.Component(name))
}

// copyTree copies a folder with its files. Blocks of zeros, as at the end of etcd's logs, use no space in the copy.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Type().IsRegular():
			return copyContents(path, target)
		default:
			return nil // sockets and similar files are created again
		}
	})
}

func copyContents(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	size, err := copySparse(source, target)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return target.Truncate(size)
}

// copySparse copies data, but leaves holes instead of blocks of zeros. It returns the size of the data.
func copySparse(source io.Reader, target io.WriteSeeker) (size int64, err error) {
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(source, block)
		size += int64(n)
		switch {
		case n == 0:
		case bytes.Equal(block[:n], zeros[:n]):
			if _, err := target.Seek(int64(n), io.SeekCurrent); err != nil {
				return size, err
			}
		default:
			if _, err := target.Write(block[:n]); err != nil {
				return size, err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}
