package history

import (
	"net/http"
	"strings"
)

// newImpatient wraps the transport of a Recorder's clients. If a connection broke or the answer has Retry-After,
// client-go waits a second, up to ten times, and meanwhile does not report that the API server is back. With this
// transport every failure is reported at once, and the Recorder paces its own attempts.
func newImpatient(next http.RoundTripper) http.RoundTripper { return impatient{next} }

type impatient struct{ next http.RoundTripper }

// RoundTrip calls the wrapped transport, and removes what makes client-go wait.
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

// brokenError hides a transport's error from code that would wait because of it: it does not unwrap to its cause, and
// it does not use the words that client-go looks for.
type brokenError struct{ cause error }

func (e brokenError) Error() string { return "no answer: " + quietly(e.cause.Error()) }

// quietly rephrases what client-go takes as a reason to wait (apimachinery's net.IsProbableEOF).
func quietly(message string) string { return words.Replace(message) }

var words = strings.NewReplacer(
	"connection reset by peer", "the connection was reset",
	"use of closed network connection", "the connection was closed",
	"server sent GOAWAY and closed the connection", "the server closed the connection",
	"can't write HTTP request on broken connection", "the connection broke",
)
