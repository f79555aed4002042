package storage

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// revision is one write; an empty value is a deletion.
type revision struct{ key, value string }

// backup writes a file as etcdctl snapshot save does.
func backup(t *testing.T, bucket string, revisions ...revision) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.db")
	db, err := bbolt.Open(path, 0o600, nil)
	golden.Must(t, err)
	golden.Must(t, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(bucket))
		if err != nil {
			return err
		}
		for i, r := range revisions {
			name := append(binary.BigEndian.AppendUint64(nil, uint64(i)), '_')
			name = binary.BigEndian.AppendUint64(name, 0)
			kv := &mvccpb.KeyValue{Key: []byte(r.key), Value: []byte(r.value)}
			if r.value == "" {
				name, kv.Value = append(name, 't'), nil
			}
			value, err := proto.Marshal(kv)
			if err != nil {
				return err
			}
			if err := b.Put(name, value); err != nil {
				return err
			}
		}
		return nil
	}))
	golden.Must(t, db.Close())
	data, err := os.ReadFile(path)
	golden.Must(t, err)
	hash := sha256.Sum256(data)
	golden.Must(t, os.WriteFile(path, append(data, hash[:]...), 0o600))
	return path
}

// A snapshot has the latest value of each key, and no deleted keys. The prefix of the keys may not be the default.
func TestSnapshot(t *testing.T) {
	path := backup(t, "key",
		revision{"/kubernetes.io/namespaces/default", "one"}, revision{"/kubernetes.io/configmaps/n/a", "old"},
		revision{"/kubernetes.io/configmaps/n/b", "x"},
		revision{"/kubernetes.io/configmaps/n/a", "new"}, revision{"/kubernetes.io/configmaps/n/b", ""},
		revision{"/elsewhere", "x"},
		revision{"/kubernetes.io/secrets/n/s", "k8s:enc:aescbc:v1:k:x"},
	)
	s, err := OpenSnapshot(path)
	golden.Must(t, err)
	defer func() { golden.Must(t, s.Close()) }()
	var got []string
	golden.Must(t, s.Each(func(key string, value []byte) error {
		got = append(got, key+"="+string(value))
		return nil
	}))
	want := "/registry/configmaps/n/a=new /registry/namespaces/default=one /registry/secrets/n/s=k8s:enc:aescbc:v1:k:x"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if counts := s.Encrypted(); counts["aescbc"] != 1 {
		t.Errorf("encrypted: %v", counts)
	}
}

func TestSnapshotsThatAreRejected(t *testing.T) {
	whole := backup(t, "key", revision{"/registry/namespaces/default", strings.Repeat("x", 100_000)})
	data, err := os.ReadFile(whole)
	golden.Must(t, err)
	damaged := append([]byte(nil), data...)
	damaged[len(damaged)/2]++
	torn := append([]byte(nil), data[:len(data)-sha256.Size]...) // copied while etcd wrote: it has no checksum
	clear(torn[2*os.Getpagesize():])
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"cut", "it is truncated", data[:len(data)/2+7]},
		{"cut at a block, without a checksum", "it is truncated", data[:32<<10]},
		{"damaged", "its checksum does not match", damaged},
		{"torn", "it is damaged", torn},
		{"empty", "it is truncated or not an etcd backup", nil},
		{"no database", "it is not an etcd backup", make([]byte, 4096)},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "backup.db")
			golden.Must(t, os.WriteFile(path, test.data, 0o600))
			if _, err := OpenSnapshot(path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	if _, err := OpenSnapshot(backup(t, "other")); err == nil || !strings.Contains(err.Error(), "it has no keys") {
		t.Errorf("another database: %v", err)
	}
	if _, err := OpenSnapshot(backup(t, "key", revision{"/calico/x", "y"})); err == nil || !strings.Contains(err.Error(),
		"contains no Kubernetes cluster") {
		t.Errorf("another etcd: %v", err)
	}
}

// A key that looks like that of the namespace default may belong to another object. The prefix is the shortest one. Two
// clusters in one etcd are an error.
func TestPrefixOfASnapshot(t *testing.T) {
	open := func(prefixes ...string) (first string, _ error) {
		var revisions []revision
		for _, prefix := range prefixes {
			revisions = append(revisions, revision{prefix + "namespaces/default", "x"})
		}
		s, err := OpenSnapshot(backup(t, "key", revisions...))
		if err != nil {
			return "", err
		}
		defer func() { golden.Must(t, s.Close()) }()
		return first, s.Each(func(key string, _ []byte) error {
			first += key + " "
			return nil
		})
	}
	keys, err := open("/registry/a.example.com/", "/registry/", "/registry/serviceaccounts/")
	golden.Must(t, err)
	if want := "/registry/a.example.com/namespaces/default /registry/namespaces/default " +
		"/registry/serviceaccounts/namespaces/default "; keys != want {
		t.Errorf("got %s, want %s", keys, want)
	}
	if _, err := open("/two/", "/one/"); err == nil || !strings.Contains(err.Error(),
		"several Kubernetes clusters, with the prefixes /one/, /two/") {
		t.Errorf("two clusters: %v", err)
	}
}
