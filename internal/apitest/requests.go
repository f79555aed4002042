package apitest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Request is a request for which a test can choose a fault.
type Request struct {
	// Verb: create, update, patch, apply, delete, get, list, watch, discover (the kinds of a version) or group (the
	// versions of a group).
	Verb string
	Kind, Namespace, Name, Subresource,
	// Manager is the field manager.
	Manager,
	// FieldValidation of the request.
	FieldValidation,
	// ResourceVersion and Continue of a list or a watch.
	ResourceVersion, Continue,
	// Path of its URL.
	Path string
	DryRun bool
	// Number of the request among those with the same verb and kind, from 1.
	Number int
}

// call is one request, parsed.
type call struct {
	Request
	gv       schema.GroupVersion
	resource string
	kind     *Kind
	// partial requests only the metadata of a list.
	partial bool
	// wet executes a dry run as a normal request.
	wet   bool
	body  []byte
	query map[string][]string
	// selector and field (a name) select objects of lists and watches.
	selector labels.Selector
	field    string
}

func (c *call) get(name string) string {
	if values := c.query[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (c *call) key() key { return key{c.resource, c.Namespace, c.Name} }

func labelsOf(object *unstructured.Unstructured) labels.Set { return object.GetLabels() }

// parse parses a request for one of the kinds.
func parse(r *http.Request, kinds []Kind) *call {
	c := &call{Request: Request{Path: r.URL.Path}, query: r.URL.Query(), selector: labels.Everything()}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts[0] == "apis" && len(parts) == 2 {
		c.Verb, c.gv = "group", schema.GroupVersion{Group: parts[1]}
		return c
	}
	if len(parts) == 1 {
		c.Verb, c.resource = "discover", parts[0]
		return c
	}
	if parts[0] == "api" {
		c.gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	} else {
		c.gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	}
	if len(parts) == 0 {
		c.Verb = "discover"
		return c
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		c.Namespace, parts = parts[1], parts[2:]
	}
	c.resource, parts = parts[0], append(parts[1:], "", "")
	c.Name, c.Subresource = parts[0], parts[1]
	c.Manager, c.FieldValidation = c.get("fieldManager"), c.get("fieldValidation")
	c.ResourceVersion, c.Continue = c.get("resourceVersion"), c.get("continue")
	c.DryRun = c.get("dryRun") == "All"
	c.partial = strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	c.field = strings.TrimPrefix(c.get("fieldSelector"), "metadata.name=")
	if selector, err := labels.Parse(c.get("labelSelector")); err == nil {
		c.selector = selector
	}
	c.body, _ = io.ReadAll(r.Body)
	c.Verb = verbOf(r, c)
	for i := range kinds {
		if kinds[i].Resource == c.resource && kinds[i].GVK.GroupVersion() == c.gv {
			c.kind, c.Kind = &kinds[i], kinds[i].GVK.Kind
		}
	}
	return c
}

func verbOf(r *http.Request, c *call) string {
	switch {
	case r.Method == http.MethodPost:
		return "create"
	case r.Method == http.MethodPut:
		return "update"
	case r.Method == http.MethodDelete:
		return "delete"
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		return "apply"
	case r.Method == http.MethodPatch:
		return "patch"
	case c.get("watch") != "":
		return "watch"
	case c.Name != "":
		return "get"
	}
	return "list"
}

// leaveOut removes a field from the body.
func (c *call) leaveOut(field string) {
	var body map[string]any
	if field == "" || json.Unmarshal(c.body, &body) != nil {
		return
	}
	delete(body, field)
	c.body, _ = json.Marshal(body) // it was valid JSON before
}
