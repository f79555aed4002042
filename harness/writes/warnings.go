package writes

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// Configure prepares a client configuration for a Writer. Warnings go to the request that caused them. Nothing is
// throttled. client-go does not repeat a write, because the Writer must know how often it was sent. A write is sent
// as the user that its step names.
func Configure(config *rest.Config, userAgent string) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS = -1
	c.UserAgent = userAgent
	c.WarningHandler = nil
	c.WarningHandlerWithContext = toRequest{}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return impersonate{once{next}} })
	return c
}

// once hides Retry-After, which would make client-go wait and send the request again.
type once struct{ next http.RoundTripper }

func (o once) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if response != nil {
		response.Header.Del("Retry-After")
	}
	return response, err
}

// warnings are the warnings of one request.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

type warningsKey struct{}

// WithWarnings returns a context that keeps the warnings of its requests, for clients that Configure has prepared. It
// also returns a function that returns them.
func WithWarnings(ctx context.Context) (context.Context, func() []string) {
	ctx, w := withWarnings(ctx)
	return ctx, w.all
}

func withWarnings(ctx context.Context) (context.Context, *warnings) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.texts...)
}

type toRequest struct{}

// HandleWarningHeaderWithContext keeps a warning (RFC 7234 code 299) with the request whose context this is.
func (toRequest) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	w, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}
