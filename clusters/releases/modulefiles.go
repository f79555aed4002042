package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// filesName is the file in a module's entry that records the digest of the module's files.
const filesName = "source.json"

// filesRecord describes the stored files of a module, as go.sum does.
type filesRecord struct {
	Digest string `json:"digest"`
}

func (e entry) filesRecord() string { return filepath.Join(e.home, filesName) }

// intact reports whether a module's files are as they were stored. A store reads them only once. Files that were stored
// before there were digests are accepted.
func (s *sources) intact(e entry) (bool, error) {
	if !isFolder(e.source()) {
		return false, nil
	}
	if _, checked := s.checked.Load(e.home); checked {
		return true, nil
	}
	data, err := os.ReadFile(e.filesRecord())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read the cache: %w", err)
	}
	digest, err := e.digest()
	if err != nil {
		return false, err
	}
	var recorded filesRecord
	if json.Unmarshal(data, &recorded) != nil || recorded.Digest != digest {
		return false, nil
	}
	s.checked.Store(e.home, true)
	return true, nil
}

func (e entry) digest() (string, error) {
	digest, err := dirhash.HashDir(e.source(), "", dirhash.Hash1)
	if err != nil {
		return "", fmt.Errorf("cannot read the files of %s in the cache: %w", e.what, err)
	}
	return digest, nil
}

// recordFiles records what a module's files are now. The caller holds the lock.
func (s *sources) recordFiles(e entry) error {
	digest, err := e.digest()
	if err != nil {
		return err
	}
	if err := writeJSON(e.filesRecord(), tempPrefix, filesRecord{digest}); err != nil {
		return err
	}
	s.checked.Store(e.home, true)
	return nil
}

// adopt records the files of a module that was stored before there were digests. A cache that cannot be written is
// used without a record.
func (s *sources) adopt(ctx context.Context, e entry) {
	if has, err := isThere(e.filesRecord()); has || err != nil {
		return
	}
	unlock, err := e.lock(ctx, lockName, s.options.Progress)
	if err != nil {
		return
	}
	defer unlock()
	if has, err := isThere(e.filesRecord()); !has && err == nil {
		_ = s.recordFiles(e)
	}
}

// clear removes a module's files, and its programs: a build also completes the files. The record is removed last, so
// that changed files are never accepted as files without a record. The caller holds the lock.
func (e entry) clear() error {
	if err := os.RemoveAll(e.source()); err != nil {
		return fmt.Errorf("cannot remove changed files from the cache: %w", err)
	}
	folders, err := os.ReadDir(e.home)
	for _, f := range folders {
		if f.IsDir() && !strings.HasPrefix(f.Name(), tempPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(e.home, f.Name())))
		}
	}
	if err := errors.Join(err, os.RemoveAll(e.filesRecord())); err != nil {
		return fmt.Errorf("cannot remove programs of changed files from the cache: %w", err)
	}
	return nil
}
