package storage

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// Snapshot is a backup of etcd: the output of etcdctl snapshot save, or the file db of a member's data. It is only
// read.
type Snapshot struct {
	db     *bbolt.DB
	latest map[string][]byte
	// prefix of the keys in the backup. Those of latest begin with Prefix.
	prefix string
}

// OpenSnapshot opens a backup, and checks that it is complete and contains a Kubernetes cluster.
func OpenSnapshot(path string) (s *Snapshot, err error) {
	defer func() {
		if damage := recover(); damage != nil { // bbolt panics on a page that is none
			s, err = nil, fmt.Errorf("read etcd snapshot %s: it is damaged (%v): create it again with etcdctl snapshot save",
				path, damage)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := checkHash(path); err != nil {
		return nil, fmt.Errorf("read etcd snapshot %s: %w", path, err)
	}
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		return nil, fmt.Errorf("read etcd snapshot %s: it is not an etcd backup: %w", path, err)
	}
	s = &Snapshot{db: db, latest: map[string][]byte{}}
	if err := s.load(path); err != nil {
		return nil, errors.Join(fmt.Errorf("read etcd snapshot %s: %w", path, err), db.Close())
	}
	return s, nil
}

// Prefix of the keys in the backup: the flag --etcd-prefix of its API server.
func (s *Snapshot) Prefix() string { return s.prefix }

// Close closes the file. Values that were read from it must not be used afterwards.
func (s *Snapshot) Close() error { return s.db.Close() }

// lockTimeout is how long to wait while another process locks the file.
const lockTimeout = time.Second

// block divides the size of a database. A snapshot has its checksum after the database.
const block = 512

// checkHash compares a file with the checksum at its end. A file from a member's data has no checksum.
func checkHash(path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	content := info.Size() - sha256.Size
	switch {
	case info.Size() > 0 && info.Size()%block == 0:
		return nil
	case info.Size()%block != sha256.Size:
		return errors.New("it is truncated or not an etcd backup: create it again with etcdctl snapshot save")
	}
	hash := sha256.New()
	if _, err := io.CopyN(hash, file, content); err != nil {
		return err
	}
	want := make([]byte, sha256.Size)
	if _, err := io.ReadFull(file, want); err != nil {
		return err
	}
	if !bytes.Equal(hash.Sum(nil), want) {
		return errors.New("its checksum does not match: it is damaged; create it again with etcdctl snapshot save")
	}
	return nil
}

// load finds the latest value of each key.
func (s *Snapshot) load(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	all := map[string][]byte{}
	err = s.db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return errors.New("it is truncated: create it again with etcdctl snapshot save")
		}
		revisions := tx.Bucket([]byte("key"))
		if revisions == nil {
			return errors.New("it is not an etcd backup: it has no keys")
		}
		return revisions.ForEach(func(revision, value []byte) error { return take(all, revision, value) })
	})
	if err != nil {
		return err
	}
	prefix, err := prefixOf(all)
	if err != nil {
		return err
	}
	s.prefix = prefix
	for key, value := range all {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			s.latest[Prefix+rest] = value
		}
	}
	return nil
}

// prefixOf returns the prefix of the keys of the Kubernetes cluster: that of the key of the namespace default. Such a
// key below another prefix belongs to an object of the same cluster, such as a custom resource.
func prefixOf(all map[string][]byte) (string, error) {
	var candidates, found []string
	for key := range all {
		if prefix, ok := strings.CutSuffix(key, "namespaces/default"); ok && strings.HasSuffix(prefix, "/") {
			candidates = append(candidates, prefix)
		}
	}
	slices.SortFunc(candidates, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	for _, prefix := range candidates {
		if !slices.ContainsFunc(found, func(shorter string) bool { return strings.HasPrefix(prefix, shorter) }) {
			found = append(found, prefix)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("it contains no Kubernetes cluster: none of its %d keys belongs to the namespace default",
			len(all))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("it contains several Kubernetes clusters, with the prefixes %s; use a backup that contains "+
		"only one of them", strings.Join(found, ", "))
}

// take applies one revision. Revisions are in ascending order. A marked revision is a deletion.
func take(all map[string][]byte, revision, value []byte) error {
	const unmarked = 8 + 1 + 8
	var kv mvccpb.KeyValue
	if err := proto.Unmarshal(value, &kv); err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	if len(revision) > unmarked {
		delete(all, string(kv.Key))
	} else {
		all[string(kv.Key)] = kv.Value
	}
	return nil
}

// Each calls visit for every key, sorted. Keys begin with Prefix, even if the backup has another prefix.
func (s *Snapshot) Each(visit func(key string, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(s.latest)) {
		if err := visit(key, s.latest[key]); err != nil {
			return err
		}
	}
	return nil
}

// Encrypted counts the encrypted values by the provider that encrypted them.
func (s *Snapshot) Encrypted() map[string]int {
	counts := map[string]int{}
	for _, value := range s.latest {
		if provider := Encrypted(value); provider != "" {
			counts[provider]++
		}
	}
	return counts
}
