// Package documents reads the Kubernetes objects of a system from files, folders and addresses.
package documents

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// maxManifest is the largest manifest that is fetched, in bytes.
const maxManifest = 64 << 20

// parse reads the objects of a YAML file. Lists are flattened.
func parse(name string, data []byte) ([]*unstructured.Unstructured, error) {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var all []*unstructured.Unstructured
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read document %d of %s: %w", n, name, err)
		}
		object := &unstructured.Unstructured{}
		if err := sigsyaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("read document %d of %s: %w", n, name, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if object.GetAPIVersion() == "" || object.GetKind() == "" {
			return nil, fmt.Errorf("document %d of %s is not an object: it needs apiVersion and kind", n, name)
		}
		if !object.IsList() {
			all = append(all, object)
			continue
		}
		err = object.EachListItem(func(item runtime.Object) error {
			all = append(all, item.(*unstructured.Unstructured))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read document %d of %s: %w", n, name, err)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s contains no object", name)
	}
	return all, nil
}

// OfKinds reads the objects of some kinds from files and folders, each of which must have one.
func OfKinds(names []string, wanted func(*unstructured.Unstructured) bool) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, name := range names {
		objects, err := readObjects(name)
		if err != nil {
			return nil, err
		}
		found := 0
		for _, object := range objects {
			if wanted(object) {
				all = append(all, object)
				found++
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("%s contains no object of the expected kinds (its first is a %s)", name,
				objects[0].GetKind())
		}
	}
	return all, nil
}

// readObjects reads the objects of a file or of a folder.
func readObjects(name string) ([]*unstructured.Unstructured, error) {
	all, err := texts(name)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, one := range all {
		found, err := parse(one.name, one.data)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// SplitChecksum splits a manifest's name and its checksum.
func SplitChecksum(manifest string) (name, checksum string, err error) {
	name, fragment, found := strings.Cut(manifest, "#")
	if !found {
		return name, "", nil
	}
	checksum, ok := strings.CutPrefix(fragment, "sha256=")
	if decoded, err := hex.DecodeString(checksum); !ok || err != nil || len(decoded) != sha256.Size {
		return name, "", fmt.Errorf("manifest %s: # must be followed by sha256= and 64 hexadecimal digits", manifest)
	}
	return name, checksum, nil
}

// Fetch reads a manifest from its file or its address, and checks its checksum.
func Fetch(ctx context.Context, manifest string) ([]*unstructured.Unstructured, error) {
	name, checksum, err := SplitChecksum(manifest)
	if err != nil {
		return nil, err
	}
	data, err := read(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("get manifest %s: %w", name, err)
	}
	if sum := sha256.Sum256(data); checksum != "" && !strings.EqualFold(hex.EncodeToString(sum[:]), checksum) {
		return nil, fmt.Errorf("manifest %s has the SHA-256 %x, not %s", name, sum, checksum)
	}
	return parse(name, data)
}

func read(ctx context.Context, name string) ([]byte, error) {
	if !clusters.IsAddress(name) {
		return os.ReadFile(name)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxManifest+1))
	if err == nil && len(data) > maxManifest {
		err = fmt.Errorf("it is larger than %d bytes", maxManifest)
	}
	return data, err
}
