package apitest

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (s *storage) get(c *call) (any, *metav1.Status) {
	if object := s.objects[c.key()]; object != nil {
		return object.Object, nil
	}
	return nil, c.notFound()
}

// page is the snapshot that a list returns page by page.
type page struct {
	revision string
	objects  []*unstructured.Unstructured
}

// list returns a page. The token of the next page has the number of the snapshot, and the offset in it.
func (s *Server) list(c *call) (any, *metav1.Status) {
	number, from := len(s.pages), 0
	exact := 0
	if c.get("resourceVersionMatch") == "Exact" {
		exact, _ = strconv.Atoi(c.ResourceVersion)
	}
	switch {
	case c.Continue != "":
		_, _ = fmt.Sscanf(c.Continue, "%d/%d", &number, &from)
	case exact != 0 && exact < s.compacted:
		status := TooOld()
		return nil, &status
	case exact != 0:
		s.pages = append(s.pages, page{strconv.Itoa(exact), sorted(s.at(exact), c.resource, c.wants)})
	default:
		s.pages = append(s.pages, page{strconv.Itoa(s.revision), sorted(s.objects, c.resource, c.wants)})
	}
	objects := s.pages[number].objects[from:]
	metadata := map[string]any{"resourceVersion": s.pages[number].revision}
	if limit, _ := strconv.Atoi(c.get("limit")); limit > 0 && len(objects) > limit {
		if c.field == "" && c.selector.Empty() {
			metadata["remainingItemCount"] = len(objects) - limit
		}
		objects = objects[:limit]
		metadata["continue"] = fmt.Sprintf("%d/%d", number, from+limit)
	}
	apiVersion, kind := c.gv.String(), c.Kind+"List"
	if c.partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	items := make([]any, len(objects))
	for i, object := range objects {
		items[i] = object.Object
		if c.partial {
			items[i] = map[string]any{
				"apiVersion": apiVersion, "kind": "PartialObjectMetadata", "metadata": object.Object["metadata"],
			}
		}
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "items": items}, nil
}
