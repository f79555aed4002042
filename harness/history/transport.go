package history

import (
	"net/http"
	"strings"
)

// newImpatient wraps the transport of a Recorder's clients. client-go waits a second, up to ten times, where a
// connection broke or the answer asks for patience, and so would keep to itself for as long that the API server is
// back; with this, every failure is reported at once, and the Recorder paces its attempts itself.
func newImpatient(next http.RoundTripper) http.RoundTripper { return impatient{next} }

type impatient struct{ next http.RoundTripper }

// RoundTrip is the wrapped transport's, but for what makes client-go wait.
func (t impatient) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	switch {
	case err != nil && request.Context().Err() == nil:
		return nil, brokenError{err}
	case err == nil:
		response.Header.Del("Retry-After")
	}
	return response, err
}

// brokenError hides a transport's error from those who would wait for its sake: it has no cause to be found, and its
// words are not those that client-go looks for.
type brokenError struct{ cause error }

func (e brokenError) Error() string { return "no answer: " + quietly(e.cause.Error()) }

// quietly says what client-go would take for a reason to wait (apimachinery's net.IsProbableEOF) in other words.
func quietly(message string) string { return words.Replace(message) }

var words = strings.NewReplacer(
	"connection reset by peer", "the connection was reset",
	"use of closed network connection", "the connection was closed",
	"server sent GOAWAY and closed the connection", "the server closed the connection",
	"can't write HTTP request on broken connection", "the connection broke",
)
