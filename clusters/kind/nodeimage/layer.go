package nodeimage

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// epoch is the time of all files, so that the same content always has the same digest.
var epoch = time.Unix(0, 0).UTC()

// layer is an uncompressed tar file, and its digest.
type layer struct {
	path, digest string
	size         int64
}

// layerWriter writes a layer.
type layerWriter struct {
	file *os.File
	hash hash.Hash
	tar  *tar.Writer
	made map[string]bool
}

func newLayer(path string) (*layerWriter, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write an image layer: %w", err)
	}
	w := &layerWriter{file: file, hash: sha256.New(), made: map[string]bool{}}
	w.tar = tar.NewWriter(io.MultiWriter(file, w.hash))
	return w, nil
}

func (w *layerWriter) close() (layer, error) {
	err := w.tar.Close()
	info, statErr := w.file.Stat()
	if err := errors.Join(err, statErr, w.file.Close()); err != nil {
		return layer{}, fmt.Errorf("write an image layer: %w", err)
	}
	return layer{path: w.file.Name(), digest: hex.EncodeToString(w.hash.Sum(nil)), size: info.Size()}, nil
}

// folder adds a folder, and its parents.
func (w *layerWriter) folder(name string, mode int64) error {
	if name == "." || name == "/" || name == "" || w.made[name] {
		return nil
	}
	if err := w.folder(path.Dir(name), 0o755); err != nil {
		return err
	}
	w.made[name] = true
	return w.tar.WriteHeader(&tar.Header{Name: name + "/", Mode: mode, ModTime: epoch, Typeflag: tar.TypeDir})
}

// copyFile adds a file of the host.
func (w *layerWriter) copyFile(name, from string, mode int64) error {
	if err := w.folder(path.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := w.tar.WriteHeader(&tar.Header{
		Name: name, Mode: mode, Size: info.Size(), ModTime: epoch,
		Typeflag: tar.TypeReg,
	}); err != nil {
		return err
	}
	_, err = io.Copy(w.tar, file)
	return err
}

func (w *layerWriter) content(name, content string, mode int64) error {
	if err := w.folder(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := w.tar.WriteHeader(&tar.Header{
		Name: name, Mode: mode, Size: int64(len(content)), ModTime: epoch,
		Typeflag: tar.TypeReg,
	}); err != nil {
		return err
	}
	_, err := io.WriteString(w.tar, content)
	return err
}

func (w *layerWriter) link(name, target string) error {
	if err := w.folder(path.Dir(name), 0o755); err != nil {
		return err
	}
	return w.tar.WriteHeader(&tar.Header{
		Name: name, Linkname: target, Mode: 0o777, ModTime: epoch,
		Typeflag: tar.TypeSymlink,
	})
}

// tree adds a whole folder of the host under prefix, with its owners and modes, sorted by name. It leaves out
// sockets, pipes and devices: the user of the image makes its own.
func (w *layerWriter) tree(from, prefix string, skip func(name string) bool) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		name = path.Join(prefix, filepath.ToSlash(name))
		if name == "." {
			return nil
		}
		if skip != nil && skip(name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return w.treeEntry(name, file, info)
	})
}

func (w *layerWriter) treeEntry(name, file string, info fs.FileInfo) error {
	kind := info.Mode().Type()
	target := ""
	switch {
	case kind.IsRegular(), kind.IsDir():
	case kind == fs.ModeSymlink:
		var err error
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	default:
		return nil
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	header.Name, header.Uname, header.Gname = name, "", ""
	header.ModTime, header.AccessTime, header.ChangeTime = epoch, time.Time{}, time.Time{}
	if info.IsDir() {
		if w.made[name] {
			return nil // engines reject duplicate names
		}
		w.made[name] = true
		header.Name += "/"
	}
	if err := w.tar.WriteHeader(header); err != nil || !kind.IsRegular() {
		return err
	}
	source, err := os.Open(file)
	if err != nil {
		return err
	}
	defer source.Close()
	_, err = io.Copy(w.tar, source)
	return err
}
