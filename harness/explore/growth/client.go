// Package growth generates objects of every kind that a cluster serves, with as many accepted fields as possible. It
// begins with a minimal object and adds one field after the other. It fixes a rejected object with the hints in the
// rejection. It stores only the objects whose status grows; all other writes are dry runs.
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

// Client sends objects of any kind, several at once.
type Client struct {
	api      rest.Interface
	requests atomic.Int64
	// slots limits the number of concurrent requests.
	slots chan struct{}
}

// NewClient returns a client with at most atOnce concurrent requests. The API client must be from a configuration of
// writes.Configure.
func NewClient(api rest.Interface, atOnce int) *Client {
	return &Client{api: api, slots: make(chan struct{}, max(atOnce, 1))}
}

// free is the number of requests that could be sent now without a wait.
func (c *Client) free() int { return cap(c.slots) - len(c.slots) }

// Requests is the number of requests that were sent.
func (c *Client) Requests() int64 { return c.requests.Load() }

// panicked is the message of the API server after a request that made it panic.
const panicked = "caused apiserver to panic"

// Answer to a write.
type Answer struct {
	// body is the accepted object as the API server returned it; nil after a rejection.
	body []byte
	// Code, Words and Causes of a rejection.
	Code   int
	Words  string
	Causes []Cause
}

// Panicked reports whether the object made the API server panic.
func (a Answer) Panicked() bool { return strings.Contains(a.Words, panicked) }

// Cause is one cause of a rejection.
type Cause struct {
	Type    metav1.CauseType
	Field   string
	Message string
}

// Accepted reports whether the API server accepted the object.
func (a Answer) Accepted() bool { return a.body != nil }

// Object is the accepted object as the API server returned it.
func (a Answer) Object() (map[string]any, error) {
	var object map[string]any
	if err := json.Unmarshal(a.body, &object); err != nil {
		return nil, fmt.Errorf("decode the object in the API server's answer: %w", err)
	}
	return object, nil
}

// manager is the field manager of all writes of an exploration.
const manager = "rehearse-explore"

// Create creates an object from JSON. With dryRun, nothing is stored. A rejection is an Answer; an error means that the
// API server could not judge the object.
func (c *Client) Create(ctx context.Context, kind *fields.Kind, namespace string, object []byte, dryRun bool,
) (Answer, error) {
	return c.send(ctx, dryRun, object, func() *rest.Request {
		return c.api.Post().AbsPath(kind.Path(namespace)).SetHeader("Content-Type", "application/json")
	})
}

// Patch applies a JSON merge patch to a stored object.
func (c *Client) Patch(ctx context.Context, kind *fields.Kind, namespace, name, subresource string,
	patch []byte, dryRun bool,
) (Answer, error) {
	return c.send(ctx, dryRun, patch, func() *rest.Request {
		return c.api.Patch(types.MergePatchType).AbsPath(kind.Path(namespace), name, subresource)
	})
}

// Rewrite reads a stored object and writes it unchanged. An object that is gone, and a rejected write, are no errors: a
// survey finds them. An error means that the API server could not judge the write.
func (c *Client) Rewrite(ctx context.Context, kind *fields.Kind, namespace, name string) error {
	var answer Answer
	for range 1 + again {
		c.requests.Add(1)
		read := c.api.Get().AbsPath(kind.Path(namespace), name).SetHeader("Accept", "application/json").Do(ctx)
		stored, err := read.Raw()
		if err != nil {
			err = read.Error() // which always has the message of the answer
		}
		if writes.Judge(err) == writes.Rejected {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
		}
		answer, err = c.send(ctx, false, stored, func() *rest.Request {
			return c.api.Put().AbsPath(kind.Path(namespace), name).SetHeader("Content-Type", "application/json")
		})
		if err != nil {
			return fmt.Errorf("write %s %s unchanged: %w", kind.Kind, name, err)
		}
		if answer.Code != http.StatusConflict {
			return nil
		}
	}
	return fmt.Errorf("write %s %s unchanged: %s", kind.Kind, name, answer.Words)
}

// again is the number of retries of a request without a verdict, and pause the first pause before one.
const (
	again = 2
	pause = 50 * time.Millisecond
)

// send sends a request, and retries it while the API server does not judge it. If the API server also aborts the last
// attempt, the object makes it panic.
func (c *Client) send(ctx context.Context, dryRun bool, body []byte, request func() *rest.Request) (Answer, error) {
	pauses := backoff.WithMaxRetries(backoff.NewExponentialBackOff(backoff.WithInitialInterval(pause)), again)
	answer, err := backoff.RetryWithData(func() (Answer, error) {
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
	if writes.Aborted(err) {
		return Answer{Code: http.StatusInternalServerError, Words: panicked + ": " + writes.Words(err)}, nil
	}
	return answer, err
}

func answerOf(result rest.Result) (Answer, error) {
	err := result.Error() // unlike Raw's error, it always has the message of the answer
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
	if !answer.Panicked() && writes.Judge(err) != writes.Rejected {
		return answer, err
	}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			answer.Causes = append(answer.Causes, Cause{cause.Type, cause.Field, cause.Message})
		}
	}
	return answer, nil
}
