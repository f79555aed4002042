package historytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// TooOld is how the API server answers a resourceVersion that it no longer has.
func TooOld() metav1.Status {
	return failure(http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
}

// TooLarge is how the API server answers a resourceVersion that it does not have yet.
func TooLarge() metav1.Status {
	status := failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout,
		"Timeout: Too large resource version: 999, current: 5")
	status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}}
	return status
}

// Failure is a status with this code and reason.
func Failure(code int32, reason metav1.StatusReason) *metav1.Status {
	status := failure(code, reason, fmt.Sprintf("refused by the test: %s", reason))
	return &status
}

func failure(code int32, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}
}

type request struct {
	Request
	namespace string
	selector  labels.Selector
	name      string
	limit     int
	// exact is the revision at which a list is wanted; 0 is now.
	exact     int
	bookmarks bool
	// metadata alone is wanted of the objects.
	metadata bool
}

func parse(r *http.Request) (request, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch parts[0] {
	case "api":
		parts = parts[2:]
	default:
		parts = parts[3:]
	}
	query := r.URL.Query()
	parsed := request{Request: Request{
		Verb: "list", ResourceVersion: query.Get("resourceVersion"),
		Continue: query.Get("continue"),
	}}
	if len(parts) == 3 && parts[0] == "namespaces" {
		parsed.namespace, parts = parts[1], parts[2:]
	}
	parsed.Resource = parts[0]
	if query.Get("watch") == "true" {
		parsed.Verb = "watch"
	}
	parsed.bookmarks = query.Get("allowWatchBookmarks") == "true"
	parsed.metadata = strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	if query.Get("resourceVersionMatch") == "Exact" {
		parsed.exact, _ = strconv.Atoi(parsed.ResourceVersion)
	}
	parsed.limit, _ = strconv.Atoi(query.Get("limit"))
	parsed.name = strings.TrimPrefix(query.Get("fieldSelector"), "metadata.name=")
	var err error
	parsed.selector, err = labels.Parse(query.Get("labelSelector"))
	return parsed, err
}

func (r request) wants(object *unstructured.Unstructured) bool {
	return (r.namespace == "" || r.namespace == object.GetNamespace()) &&
		(r.name == "" || r.name == object.GetName()) && r.selector.Matches(labels.Set(object.GetLabels()))
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	parsed, err := parse(r)
	if err != nil {
		answer(w, http.StatusBadRequest, failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error()))
		return
	}
	s.mu.Lock()
	s.requests[parsed.Verb]++
	s.changed.Broadcast()
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil {
		if status := refuse(parsed.Request); status != nil {
			answer(w, int(status.Code), status)
			return
		}
	}
	if parsed.Verb == "watch" {
		s.watch(w, r, parsed)
		return
	}
	s.list(w, parsed)
}

// list answers a page; the token of the next is the number of the snapshot and where to go on in it.
func (s *Server) list(w http.ResponseWriter, r request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, from := len(s.snapshots), 0
	switch {
	case r.Continue != "":
		_, _ = fmt.Sscanf(r.Continue, "%d/%d", &number, &from)
	case r.exact != 0 && r.exact < s.compacted:
		answer(w, http.StatusGone, TooOld())
		return
	case r.exact != 0:
		s.snapshots = append(s.snapshots, snapshot{strconv.Itoa(r.exact), sorted(s.at(r.exact), r.Resource, r.wants)})
	default:
		s.snapshots = append(s.snapshots, snapshot{strconv.Itoa(s.revision), s.of(r.Resource, r.wants)})
	}
	objects := s.snapshots[number].objects[from:]
	meta := map[string]any{"resourceVersion": s.snapshots[number].revision}
	if r.limit > 0 && len(objects) > r.limit {
		if r.name == "" && r.selector.Empty() {
			meta["remainingItemCount"] = len(objects) - r.limit
		}
		objects = objects[:r.limit]
		meta["continue"] = fmt.Sprintf("%d/%d", number, from+r.limit)
	}
	items := make([]any, len(objects))
	kind, version := "List", "v1"
	if r.metadata {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	for i, object := range objects {
		items[i] = object.Object
		if r.metadata {
			items[i] = map[string]any{
				"apiVersion": version, "kind": "PartialObjectMetadata",
				"metadata": object.Object["metadata"],
			}
		}
	}
	answer(w, http.StatusOK, map[string]any{"apiVersion": version, "kind": kind, "metadata": meta, "items": items})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
