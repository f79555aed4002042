package systems

import (
	"bytes"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/kustomization"
)

// kustomized reads the objects of a folder with a kustomization.
func kustomized(dir string) ([]*unstructured.Unstructured, error) {
	built, err := kustomization.Build(dir)
	if err != nil {
		return nil, err
	}
	return parse(dir, bytes.Join(built, []byte("---\n")))
}
