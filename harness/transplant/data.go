// Package transplant copies the stored data of another cluster to the etcd of a local cluster, with a policy for
// everything that a copy lacks: nodes, webhooks, aggregated API servers, time.
package transplant

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Data is the stored data of a cluster.
type Data interface {
	// Each calls visit for each entry.
	Each(visit func(Entry) error) error
}

// Entry is one stored key with its value.
type Entry struct {
	Key string
	// Encrypted names the provider that encrypted the value; "" if it is not encrypted.
	Encrypted string
	// Value returns the value in etcd. Object returns the decoded object, or an error if the value cannot be decoded.
	Value  func() ([]byte, error)
	Object func() (*unstructured.Unstructured, error)
}

// FromCapture returns the data of a capture.
func FromCapture(c *capture.Capture) Data { return captured{c} }

type captured struct{ *capture.Capture }

func (c captured) Each(visit func(Entry) error) error {
	return c.Capture.Each(func(r storage.Resource, o *unstructured.Unstructured) error {
		return visit(Entry{
			Key:    r.Key(o.GetNamespace(), o.GetName()),
			Value:  func() ([]byte, error) { return storage.Encode(r, o) },
			Object: func() (*unstructured.Unstructured, error) { return o, nil },
		})
	})
}
