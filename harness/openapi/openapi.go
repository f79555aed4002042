// Package openapi reads the OpenAPI documents that an API server serves, one for each version of a group.
package openapi

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Document has the definitions of one version of a group. Each is parsed when it is needed. The zero value has none.
type Document struct {
	texts  map[string]json.RawMessage
	parsed *sync.Map
}

// Fetch gets the document of a version of a group. It is empty if the API server has none, or none yet: the document
// of a new custom kind appears with a delay.
func Fetch(ctx context.Context, client rest.Interface, gv schema.GroupVersion) (Document, error) {
	at := path.Join("/openapi/v3/apis", gv.Group, gv.Version)
	if gv.Group == "" {
		at = path.Join("/openapi/v3/api", gv.Version)
	}
	text, err := client.Get().AbsPath(at).SetHeader("Accept", "application/json").Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return Document{}, nil
	case err != nil:
		return Document{}, fmt.Errorf("get the OpenAPI document of %s: %w", gv, err)
	}
	return read(text)
}

func read(text []byte) (Document, error) {
	var all struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return Document{}, fmt.Errorf("read an OpenAPI document: %w", err)
	}
	return Document{all.Components.Schemas, &sync.Map{}}, nil
}

// Definition returns the definition of that name; nil if it does not exist or cannot be parsed.
func (d Document) Definition(name string) *Schema {
	text, there := d.texts[name]
	if !there {
		return nil
	}
	if known, ok := d.parsed.Load(name); ok {
		return known.(*Schema)
	}
	var s *Schema
	if json.Unmarshal(text, &s) != nil {
		s = nil
	}
	d.parsed.Store(name, s)
	return s
}

// Kind returns the definition of a kind, and its name; nil if there is none.
func (d Document) Kind(gvk schema.GroupVersionKind) (name string, _ *Schema) {
	for name := range d.texts {
		if !strings.HasSuffix(name, "."+gvk.Kind) && name != gvk.Kind {
			continue
		}
		if s := d.Definition(name); s != nil && s.is(gvk) {
			return name, s
		}
	}
	return "", nil
}
