// Package growth makes objects of every kind that a cluster serves, with as many of their fields as it accepts. It
// begins with the least that is accepted, adds one field after the other, and mends what is refused by the words of the
// refusal. It stores nothing: all of its writes are dry runs.
package growth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// Client sends objects of any kind, as fast as the API server takes them.
type Client struct {
	http     *http.Client
	host     string
	requests atomic.Int64
}

// NewClient returns a client without a limit of its own.
func NewClient(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.UserAgent = -1, "rehearse-explore"
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the exploration: %w", err)
	}
	client.Timeout = 30 * time.Second
	return &Client{http: client, host: strings.TrimSuffix(config.Host, "/")}, nil
}

// Requests is how many have been sent.
func (c *Client) Requests() int64 { return c.requests.Load() }

// panicked is what the API server says of a request that was too much for it.
const panicked = "caused apiserver to panic"

// Answer to a write.
type Answer struct {
	// Object is what the API server made of the one that was sent; nil where it refused.
	Object map[string]any
	// Code and Words of a refusal, and the causes that it names.
	Code   int
	Words  string
	Causes []Cause
}

// panicked says whether the object was too much for the API server.
func (a Answer) panicked() bool { return strings.Contains(a.Words, panicked) }

// Cause of a refusal.
type Cause struct {
	Type    metav1.CauseType
	Field   string
	Message string
}

// Accepted says whether the API server took the object.
func (a Answer) Accepted() bool { return a.Object != nil }

// Create sends an object; with dryRun nothing is stored. The error is of what kept the API server from judging it.
func (c *Client) Create(ctx context.Context, kind *fields.Kind, namespace string, object map[string]any,
	dryRun bool,
) (Answer, error) {
	query := "?fieldManager=rehearse-explore&fieldValidation=Ignore"
	if dryRun {
		query += "&dryRun=All"
	}
	return c.send(ctx, http.MethodPost, kind.Path(namespace)+query, "application/json", object)
}

// Patch merges fields into a stored object.
func (c *Client) Patch(ctx context.Context, kind *fields.Kind, namespace, name, subresource string,
	patch map[string]any, dryRun bool,
) (Answer, error) {
	path := kind.Path(namespace) + "/" + name
	if subresource != "" {
		path += "/" + subresource
	}
	path += "?fieldManager=rehearse-explore&fieldValidation=Ignore"
	if dryRun {
		path += "&dryRun=All"
	}
	return c.send(ctx, http.MethodPatch, path, "application/merge-patch+json", patch)
}

// How often a request without a verdict is sent again, and how long it waits before.
const (
	again    = 3
	waitUnit = 50 * time.Millisecond
)

func (c *Client) send(ctx context.Context, method, path, contentType string, object map[string]any) (Answer, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return Answer{}, fmt.Errorf("write an object as JSON: %w", err)
	}
	for try := range again {
		var answer Answer
		if answer, err = c.once(ctx, method, path, contentType, body); err == nil || ctx.Err() != nil {
			return answer, err
		}
		select {
		case <-time.After(waitUnit << try):
		case <-ctx.Done():
		}
	}
	return Answer{}, err
}

func (c *Client) once(ctx context.Context, method, path, contentType string, body []byte) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.host+path, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Accept", "application/json")
	c.requests.Add(1)
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = response.Body.Close() }() // it was read to its end, or its error is told
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return answerOf(response.StatusCode, text)
}

func answerOf(code int, text []byte) (Answer, error) {
	if code < 300 {
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			return Answer{}, fmt.Errorf("read an object: %w", err)
		}
		return Answer{Object: object, Code: code}, nil
	}
	var status metav1.Status
	if json.Unmarshal(text, &status) != nil || status.Kind != "Status" {
		return Answer{}, fmt.Errorf("the API server answers %d: %s", code, text)
	}
	answer := Answer{Code: code, Words: fmt.Sprintf("%d %s: %s", code, status.Reason, status.Message)}
	if code >= 500 && !strings.Contains(status.Message, panicked) || code == http.StatusTooManyRequests {
		return answer, errors.New(answer.Words)
	}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			answer.Causes = append(answer.Causes, Cause{cause.Type, cause.Field, cause.Message})
		}
	}
	return answer, nil
}
