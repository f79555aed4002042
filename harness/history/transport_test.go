package history

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var things = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// Each failure is reported after one attempt: client-go's own retries would take a second each.
func TestClientsDoNotWait(t *testing.T) {
	answers := map[string]transport{
		"busy": func(*http.Request) (*http.Response, error) {
			body := io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":429,"reason":"TooManyRequests"}`))
			return &http.Response{StatusCode: 429, Header: http.Header{
				"Retry-After":  {"1"},
				"Content-Type": {"application/json"},
			}, Body: body}, nil
		},
	}
	for _, message := range []string{
		"read: connection reset by peer", "use of closed network connection",
		"http2: server sent GOAWAY and closed the connection",
		"http: can't write HTTP request on broken connection", "dial: connection refused",
	} {
		answers[message] = func(*http.Request) (*http.Response, error) { return nil, errors.New(message) }
	}
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF} {
		answers[cause.Error()] = func(*http.Request) (*http.Response, error) { return nil, cause }
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			attempts := 0
			counted := transport(func(r *http.Request) (*http.Response, error) {
				attempts++
				return answer(r)
			})
			r, err := New(&rest.Config{Host: "http://127.0.0.1:1", Transport: counted, QPS: -1})
			if err != nil {
				t.Fatal(err)
			}
			s := newStream(r, things)
			if connection, err := s.connect(t.Context(), func() {}); err == nil {
				connection.Stop()
				t.Error("the watch opened")
			}
			if _, _, err := s.list(t.Context(), Scope{}); err == nil {
				t.Error("the list was answered")
			}
			if attempts != 2 {
				t.Errorf("%d attempts for a watch and a list", attempts)
			}
		})
	}
}
