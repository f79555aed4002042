package capture

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/clusters/proof"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Source reads a cluster. It sends only GET requests.
type Source struct {
	name    string
	objects dynamic.Interface
	found   discovery.DiscoveryInterface
	// wait is the first pause before a retry. Each further pause is twice as long.
	wait time.Duration
}

// NewSource returns a source of that name.
func NewSource(name string, config *rest.Config) (*Source, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	config.QPS = -1 // no limit, because it sends one request at a time
	config.UserAgent = "rehearse-capture"
	config.Timeout = requestTimeout
	objects, err1 := dynamic.NewForConfig(config)
	found, err2 := discovery.NewDiscoveryClientForConfig(config)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", name, err)
	}
	return &Source{name: name, objects: objects, found: found, wait: 500 * time.Millisecond}, nil
}

// Limits of one request.
const (
	reachTimeout   = 20 * time.Second // of the first request
	requestTimeout = time.Minute
	tries          = 4
	pageSize       = 500
)

// readOnly rejects all requests except GET.
type readOnly struct{ next http.RoundTripper }

func (r readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s: a captured cluster is only read", request.Method, request.URL.Path)
	}
	return r.next.RoundTrip(request)
}

// version returns the API server's exact version, and the version as the API server reports it.
func (s *Source) version(ctx context.Context) (exact, words string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachTimeout, fmt.Errorf("it does not answer within %s", reachTimeout))
	defer cancel()
	var raw []byte
	err = s.persist(ctx, func() error {
		raw, err = s.found.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("ask cluster %s for its version: %w", s.name, err)
	}
	words, err = gitVersion(raw)
	if err != nil {
		return "", "", fmt.Errorf("cluster %s: %w", s.name, err)
	}
	parsed, err := clusters.ParseRelease(words)
	if err != nil {
		return "", "", fmt.Errorf("cluster %s says its version is %q: %w", s.name, words, err)
	}
	return fmt.Sprintf("%d.%d.%d", parsed.Major, parsed.Minor, parsed.Patch), words, nil
}

// gates returns the feature gates of the API server, from its metrics.
func (s *Source) gates(ctx context.Context) (map[string]bool, error) {
	metrics, err := s.found.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return nil, fmt.Errorf("read /metrics: %s", reason) // the error's own words are "unknown"
	}
	if err != nil {
		return nil, fmt.Errorf("read /metrics: %w", err)
	}
	gates, err := proof.Gates(metrics)
	if err != nil {
		return nil, err
	}
	on := map[string]bool{}
	for name, gate := range gates {
		on[name] = gate.Enabled
	}
	return on, nil
}

// list reads all objects of a resource, page by page. If the next page has expired, it restarts the list. begun is
// called before each start.
func (s *Source) list(ctx context.Context, r storage.Resource, begun func(),
	visit func([]unstructured.Unstructured) error,
) error {
	for again := 0; ; again++ {
		begun()
		err := s.pages(ctx, r, visit)
		if !apierrors.IsResourceExpired(err) || again >= tries {
			return err
		}
	}
}

func (s *Source) pages(ctx context.Context, r storage.Resource, visit func([]unstructured.Unstructured) error) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		var page *unstructured.UnstructuredList
		err := s.persist(ctx, func() (err error) {
			page, err = s.objects.Resource(r.GVR()).List(ctx, options)
			return err
		})
		if err != nil {
			return err
		}
		if err := visit(page.Items); err != nil {
			return err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// persist sends a request, and retries a few times until it succeeds or is rejected.
func (s *Source) persist(ctx context.Context, send func() error) error {
	for try, wait := 1, s.wait; ; try, wait = try+1, 2*wait {
		err := send()
		if err == nil || try == tries || ctx.Err() != nil || isRejected(err) {
			return err
		}
		if !pauses.For(ctx, wait) {
			return context.Cause(ctx)
		}
	}
}

// isRejected reports whether the API server denies a request, or does not have what it asks for.
func isRejected(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code >= 400 && status.Status().Code < 500 &&
		!apierrors.IsTooManyRequests(err)
}
