package releases

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// manifest records the programs in a folder of the cache. Programs that it does not record are ignored.
type manifest struct {
	Version  string                   `json:"version"`
	Programs map[string]programRecord `json:"programs"`
}

// programRecord describes a stored program.
type programRecord struct {
	SHA256 string `json:"sha256"`
	// Size in bytes, and the time of the last change. If both are as recorded, the checksum is not computed again.
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	// Source is where it came from.
	Source string `json:"source"`
}

var errBrokenManifest = errors.New("broken manifest in the cache")

func (r programRecord) fits(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o100 != 0 && info.Size() == r.Size &&
		info.ModTime().Equal(r.Modified)
}

// readManifest returns an empty manifest if there is none.
func readManifest(dir string) (manifest, error) {
	m := manifest{Programs: map[string]programRecord{}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("cannot read the cache: %w", err)
	}
	var read manifest
	if err := json.Unmarshal(data, &read); err != nil {
		return m, fmt.Errorf("%w: %s: %w", errBrokenManifest, filepath.Join(dir, manifestName), err)
	}
	if read.Programs == nil {
		read.Programs = m.Programs
	}
	return read, nil
}

func (m manifest) write(dir string) error {
	return writeJSON(filepath.Join(dir, manifestName), tempPrefix, m)
}

// record computes a file's record and syncs the file to disk.
func record(path string) (programRecord, error) {
	file, err := os.Open(path)
	if err != nil {
		return programRecord{}, err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return programRecord{}, err
	}
	if err := file.Sync(); err != nil {
		return programRecord{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return programRecord{}, err
	}
	return programRecord{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: info.Size(), Modified: info.ModTime()}, nil
}

// writeJSON replaces a file atomically, through a temporary file whose name begins with tempPrefix: a reader sees the
// complete old file or the complete new one.
func writeJSON(path, tempPrefix string, value any) error {
	data, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", path, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return fmt.Errorf("cannot write to the cache: %w", err)
	}
	defer os.Remove(file.Name()) // no effect after the rename
	_, err = file.Write(append(data, '\n'))
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
