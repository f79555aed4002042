// Package growth makes objects of every kind that a cluster serves, with as many of their fields as it accepts. It
// begins with the least that is accepted, adds one field after the other, and mends what is refused by the words of the
// refusal. It stores nothing: all of its writes are dry runs.
package growth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Client sends objects of any kind, as fast as the API server takes them.
type Client struct {
	api      rest.Interface
	requests atomic.Int64
	// slots has one for each request that may be under way.
	slots chan struct{}
}

// NewClient sends through a client that writes.Configure has prepared, so many requests at once.
func NewClient(api rest.Interface, atOnce int) *Client {
	return &Client{api: api, slots: make(chan struct{}, max(atOnce, 1))}
}

// Requests is how many have been sent.
func (c *Client) Requests() int64 { return c.requests.Load() }

// panicked is what the API server says of a request that was too much for it.
const panicked = "caused apiserver to panic"

// Answer to a write.
type Answer struct {
	// body is what the API server made of the object that was sent; nil where it refused.
	body []byte
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
func (a Answer) Accepted() bool { return a.body != nil }

// Object is what the API server made of an object that it took.
func (a Answer) Object() (map[string]any, error) {
	var object map[string]any
	if err := json.Unmarshal(a.body, &object); err != nil {
		return nil, fmt.Errorf("read what the API server made of an object: %w", err)
	}
	return object, nil
}

// manager is the field manager of all that an exploration writes.
const manager = "rehearse-explore"

// Create sends an object as JSON; with dryRun nothing is stored. The error is of what kept the API server from judging
// it.
func (c *Client) Create(ctx context.Context, kind *fields.Kind, namespace string, object []byte, dryRun bool,
) (Answer, error) {
	return c.send(ctx, dryRun, object, func() *rest.Request {
		return c.api.Post().AbsPath(kind.Path(namespace)).SetHeader("Content-Type", "application/json")
	})
}

// Patch merges fields, as JSON, into a stored object.
func (c *Client) Patch(ctx context.Context, kind *fields.Kind, namespace, name, subresource string,
	patch []byte, dryRun bool,
) (Answer, error) {
	return c.send(ctx, dryRun, patch, func() *rest.Request {
		return c.api.Patch(types.MergePatchType).AbsPath(kind.Path(namespace), name, subresource)
	})
}

// Rewrite writes a stored object as it is read.
func (c *Client) Rewrite(ctx context.Context, kind *fields.Kind, namespace, name string) error {
	var answer Answer
	for range 1 + again {
		c.requests.Add(1)
		stored, err := c.api.Get().AbsPath(kind.Path(namespace), name).SetHeader("Accept", "application/json").Do(ctx).Raw()
		if err != nil {
			return fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
		}
		answer, err = c.send(ctx, false, stored, func() *rest.Request {
			return c.api.Put().AbsPath(kind.Path(namespace), name).SetHeader("Content-Type", "application/json")
		})
		if err != nil {
			return err
		}
		if answer.Accepted() || answer.Code != http.StatusConflict {
			break
		}
	}
	if !answer.Accepted() {
		return fmt.Errorf("write %s %s as it is: %s", kind.Kind, name, answer.Words)
	}
	return nil
}

// again is how often a request without a verdict is sent once more, and pause how long it waits before the first time.
const (
	again = 2
	pause = 50 * time.Millisecond
)

// send sends a request until the API server judges it, or did not several times.
func (c *Client) send(ctx context.Context, dryRun bool, body []byte, request func() *rest.Request) (Answer, error) {
	pauses := backoff.WithMaxRetries(backoff.NewExponentialBackOff(backoff.WithInitialInterval(pause)), again)
	return backoff.RetryWithData(func() (Answer, error) {
		r := request().SetHeader("Accept", "application/json").Body(body).
			Param("fieldManager", manager).Param("fieldValidation", metav1.FieldValidationIgnore)
		if dryRun {
			r = r.Param("dryRun", metav1.DryRunAll)
		}
		c.slots <- struct{}{}
		c.requests.Add(1)
		result := r.Do(ctx)
		<-c.slots
		return answerOf(result)
	}, backoff.WithContext(pauses, ctx))
}

func answerOf(result rest.Result) (Answer, error) {
	err := result.Error() // which, other than that of Raw, has the words of every answer
	if err == nil {
		body, err := result.Raw()
		return Answer{body: body, Code: http.StatusOK}, err
	}
	status, answered := writes.StatusOf(err)
	if !answered {
		return Answer{}, err
	}
	answer := Answer{
		Code: int(status.Code), Words: fmt.Sprintf("%d %s: %s", status.Code, status.Reason, status.Message),
	}
	if !answer.panicked() && writes.Judge(err) != writes.Refused {
		return answer, err
	}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			answer.Causes = append(answer.Causes, Cause{cause.Type, cause.Field, cause.Message})
		}
	}
	return answer, nil
}
