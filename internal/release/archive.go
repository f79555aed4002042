package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// member is one file of an archive or of an image's layer. We set everything that could differ between machines
// (owners, times, the order).
type member struct {
	name string
	mode int64
	// One of these: the path of a file to read, bytes, the target of a symbolic link; or none for a folder.
	file string
	data []byte
	link string
}

// pack writes the archive of a program.
func pack(p *program, source, file string) error {
	members := []member{
		{name: "CHANGELOG.md", mode: 0o644, file: filepath.Join(source, "CHANGELOG.md")},
		{name: "LICENSE", mode: 0o644, file: filepath.Join(source, "LICENSE")},
		{name: "README.md", mode: 0o644, file: filepath.Join(source, "README.md")},
		{name: "kubectl-rehearse", mode: 0o777, link: "rehearse"},
		{name: "rehearse", mode: 0o755, file: p.file},
	}
	return replace(file, func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		zipped := gzip.NewWriter(f)
		err = writeTar(zipped, members, p.committed)
		if err = errors.Join(err, zipped.Close(), f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		return nil
	})
}

// writeTarFile writes the members into an archive.
func writeTarFile(file string, members []member, at time.Time) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(f, members, at), f.Close())
}

// writeTar writes the members in their order.
func writeTar(out io.Writer, members []member, at time.Time) error {
	w := tar.NewWriter(out)
	for _, m := range members {
		if err := m.write(w, at); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return w.Close()
}

func (m member) write(w *tar.Writer, at time.Time) error {
	header := &tar.Header{Name: m.name, Mode: m.mode, ModTime: at.Truncate(time.Second), Format: tar.FormatUSTAR}
	switch {
	case m.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, m.link
	case m.file != "":
		f, err := os.Open(m.file)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		header.Typeflag, header.Size = tar.TypeReg, info.Size()
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		return err
	case m.data != nil:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(m.data))
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err := w.Write(m.data)
		return err
	default:
		header.Typeflag, header.Name = tar.TypeDir, m.name+"/"
	}
	return w.WriteHeader(header)
}
