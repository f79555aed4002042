// Package fields tells which fields the kinds of a cluster have, as a tree, by the OpenAPI documents that its API
// server serves.
package fields

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// raw is what matters here of a schema of OpenAPI v3.
type raw struct {
	Ref         string          `json:"$ref"`
	AllOf       []*raw          `json:"allOf"`
	Description string          `json:"description"`
	Type        string          `json:"type"`
	Format      string          `json:"format"`
	Enum        []any           `json:"enum"`
	Required    []string        `json:"required"`
	Properties  map[string]*raw `json:"properties"`
	Items       *raw            `json:"items"`
	Additional  json.RawMessage `json:"additionalProperties"`
	Minimum     *float64        `json:"minimum"`
	IntOrString bool            `json:"x-kubernetes-int-or-string"`
	Kinds       []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// document is the OpenAPI document of one version of a group.
type document map[string]*raw

// fetch gets the document of a version of a group; it is nil where there is none yet.
func fetch(ctx context.Context, client rest.Interface, gv schema.GroupVersion) (document, error) {
	at := "/openapi/v3/apis/" + gv.String()
	if gv.Group == "" {
		at = "/openapi/v3/api/" + gv.Version
	}
	text, err := client.Get().AbsPath(at).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if apierrors.IsNotFound(err) {
		return nil, nil // that of a kind that was defined a moment ago comes later
	}
	if err != nil {
		return nil, fmt.Errorf("get the OpenAPI document of %s: %w", gv, err)
	}
	return read(text)
}

func read(text []byte) (document, error) {
	var all struct {
		Components struct {
			Schemas document `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read an OpenAPI document: %w", err)
	}
	return all.Components.Schemas, nil
}

// root is the name of the definition of a kind; "" when there is none.
func (d document) root(gvk schema.GroupVersionKind) string {
	for name, r := range d {
		if !strings.HasSuffix(name, "."+gvk.Kind) && name != gvk.Kind {
			continue
		}
		for _, k := range r.Kinds {
			if k.Group == gvk.Group && k.Version == gvk.Version && k.Kind == gvk.Kind {
				return name
			}
		}
	}
	return ""
}

// resolved follows references. The name is that of the definition that was come to last; "" for none.
func (d document) resolved(r *raw) (name string, _ *raw) {
	for range 10 {
		switch {
		case r == nil:
			return name, &raw{}
		case r.Ref != "":
			name = r.Ref[strings.LastIndex(r.Ref, "/")+1:]
			r = d[name]
		case len(r.Properties) == 0 && r.Type == "" && len(r.AllOf) == 1:
			r = r.AllOf[0]
		default:
			return name, r
		}
	}
	return name, &raw{}
}
