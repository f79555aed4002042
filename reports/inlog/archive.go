package inlog

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Pack packs files of a folder into a compressed archive. Their names use slashes. The same files give the same
// bytes.
func Pack(dir string, names []string) ([]byte, error) {
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), zipped.Close())
	return buffer.Bytes(), err
}

// Unpack writes the files of a compressed archive into a folder, and never outside of it.
func Unpack(from io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || !fs.ValidPath(header.Name) {
			return fmt.Errorf("%q is not a file below the folder", header.Name)
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(header.Name)), 0o755); err != nil {
			return err
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if err := root.WriteFile(filepath.FromSlash(header.Name), data, 0o644); err != nil {
			return err
		}
	}
}
