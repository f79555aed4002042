package apitest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// call is one request, parsed.
type call struct {
	Request
	gv       schema.GroupVersion
	resource string
	kind     *Kind
	dryRun   bool
	// partial: only the metadata of a list is asked for.
	partial bool
	// wet is a dry run that is none.
	wet   bool
	body  []byte
	query map[string][]string
}

func (c *call) get(name string) string {
	if values := c.query[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (s *Server) parse(r *http.Request) *call {
	c := &call{query: r.URL.Query()}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts[0] == "apis" && len(parts) == 2 {
		c.Verb, c.gv = "group", schema.GroupVersion{Group: parts[1]}
		return c
	}
	if len(parts) == 1 {
		c.Verb, c.resource = "discover", parts[0]
		return c
	}
	c.partial = strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
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
	c.dryRun = c.get("dryRun") == "All"
	c.body, _ = io.ReadAll(r.Body)
	c.Verb = verbOf(r, c)
	for i := range s.kinds {
		if s.kinds[i].Resource == c.resource && s.kinds[i].GVK.GroupVersion() == c.gv {
			c.kind, c.Kind = &s.kinds[i], s.kinds[i].GVK.Kind
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

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c := s.parse(r)
	s.agents[r.UserAgent()] = true
	s.numbers[c.Verb+" "+c.Kind]++
	c.Number = s.numbers[c.Verb+" "+c.Kind]
	ask := s.fault
	s.mu.Unlock()
	var fault *Fault
	if ask != nil {
		fault = ask(c.Request)
	}
	if fault == nil || fault.Wet || fault.Without != "" || len(fault.Warnings) > 0 {
		if fault != nil {
			c.wet = fault.Wet
			c.leaveOut(fault.Without)
			for _, text := range fault.Warnings {
				w.Header().Add("Warning", `299 - "`+text+`"`)
			}
		}
		s.serve(w, r, c)
		return
	}
	if fault.Stored {
		s.serve(httptest.NewRecorder(), r, c)
	}
	switch {
	case fault.Status != nil:
		answer(w, int(fault.Status.Code), fault.Status)
	case fault.Code != 0:
		http.Error(w, fault.Text, fault.Code)
	default:
		panic(http.ErrAbortHandler)
	}
}

// leaveOut takes a field out of the body.
func (c *call) leaveOut(field string) {
	var body map[string]any
	if field == "" || json.Unmarshal(c.body, &body) != nil {
		return
	}
	delete(body, field)
	c.body, _ = json.Marshal(body) // it was JSON before
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, c *call) {
	if c.Verb == "watch" && c.kind != nil {
		s.watch(w, r, c)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var status *metav1.Status
	var body any
	switch {
	case c.Verb == "discover":
		body, status = s.discover(c)
	case c.Verb == "group":
		body, status = s.group(c)
	case c.kind == nil:
		http.NotFound(w, r)
		return
	case c.Verb == "get":
		body, status = s.get(c)
	case c.Verb == "list":
		body = s.list(c)
	case c.Verb == "create" && c.Subresource == "eviction", c.Verb == "delete":
		body, status = s.remove(c)
	case c.Verb == "create":
		body, status = s.create(c)
	case c.Verb == "update":
		body, status = s.update(c)
	default:
		body, status = s.patch(c)
	}
	if status != nil {
		answer(w, int(status.Code), status)
		return
	}
	answer(w, http.StatusOK, body)
}

func (s *Server) discover(c *call) (any, *metav1.Status) {
	switch c.resource {
	case "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, nil
	case "apis":
		return s.groups(), nil
	}
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: c.gv.String(),
	}
	for _, kind := range s.kinds {
		if kind.GVK.GroupVersion() == c.gv {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: kind.Resource, Kind: kind.GVK.Kind, Namespaced: kind.Namespaced,
				Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
			})
		}
	}
	if len(list.APIResources) == 0 {
		return nil, Status(http.StatusNotFound, metav1.StatusReasonNotFound,
			"the server could not find the requested resource")
	}
	return list, nil
}

func (s *Server) group(c *call) (any, *metav1.Status) {
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: c.gv.Group}
	for _, kind := range s.kinds {
		gv := kind.GVK.GroupVersion()
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		if gv.Group == c.gv.Group && !slices.Contains(group.Versions, version) {
			group.Versions = append(group.Versions, version)
		}
	}
	if len(group.Versions) == 0 {
		return nil, Status(http.StatusNotFound, metav1.StatusReasonNotFound,
			"the server could not find the requested resource")
	}
	return group, nil
}

// groups are those of the kinds that are served, each with one version.
func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, kind := range s.kinds {
		version := metav1.GroupVersionForDiscovery{GroupVersion: kind.GVK.GroupVersion().String(), Version: kind.GVK.Version}
		known := slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == kind.GVK.Group })
		if kind.GVK.Group != "" && !known {
			list.Groups = append(list.Groups, metav1.APIGroup{
				Name:     kind.GVK.Group,
				Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
			})
		}
	}
	return list
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // who no longer listens needs no answer
}

// Status is a failure as an API server tells it, with its causes.
func Status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) *metav1.Status {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}
	if len(causes) > 0 {
		status.Details = &metav1.StatusDetails{Causes: causes}
	}
	return status
}
