package apitest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c := parse(r, s.kinds)
	s.agents[r.UserAgent()] = true
	s.numbers[numbered(c.Verb, "")]++
	if c.Kind != "" {
		s.numbers[numbered(c.Verb, c.Kind)]++
	}
	c.Number = s.numbers[numbered(c.Verb, c.Kind)]
	s.changed.Broadcast()
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

func (s *Server) serve(w http.ResponseWriter, r *http.Request, c *call) {
	if c.Verb == "watch" && c.kind != nil {
		s.watch(w, r, c)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	var status *metav1.Status
	var body any
	switch {
	case c.Verb == "discover":
		body, status = discover(s.kinds, c)
	case c.Verb == "group":
		body, status = group(s.kinds, c)
	case c.kind == nil:
		http.NotFound(w, r)
		return
	case c.Verb == "get":
		body, status = s.get(c)
	case c.Verb == "list":
		body, status = s.list(c)
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

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
