package transplant

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/storage"
)

// FromSnapshot returns the data of an etcd backup. Its values stay unchanged, byte for byte.
func FromSnapshot(s *storage.Snapshot) Data { return backup{s} }

type backup struct{ *storage.Snapshot }

func (b backup) Each(visit func(Entry) error) error {
	return b.Snapshot.Each(func(key string, value []byte) error {
		return visit(Entry{
			Key:       key,
			Encrypted: storage.Encrypted(value),
			Value:     func() ([]byte, error) { return value, nil },
			Object:    func() (*unstructured.Unstructured, error) { return storage.Decode(value) },
		})
	})
}
