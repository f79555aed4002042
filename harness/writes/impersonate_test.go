package writes_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// A write is sent as its step's user. The reads before and after it are sent as the client itself.
func TestAsAnotherUser(t *testing.T) {
	jane := &scenarios.User{User: "jane", Groups: []string{"dev", "ops"}}
	ref := scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web"}
	for verb, step := range map[string]scenarios.Step{
		"POST":   {Create: configMap("other", nil)},
		"PUT":    {Update: configMap("web", nil)},
		"PATCH":  {Patch: &scenarios.Patch{ObjectReference: ref, Merge: map[string]any{"data": map[string]any{"x": "1"}}}},
		"DELETE": {Delete: &scenarios.Delete{ObjectReference: ref}},
	} {
		server := apitest.New(t)
		server.Put("configmaps", stored("web", "ns"))
		var mu sync.Mutex
		sent := map[string][]string{}
		config := server.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				sent[r.Method] = append(r.Header.Values("Impersonate-User"), r.Header.Values("Impersonate-Group")...)
				return next.RoundTrip(r)
			})
		})
		s := senderWith(t, server, config)
		step.As = jane
		got := s.do(t.Context(), step)
		if got.Status != reports.Passed || !strings.Contains(got.Evidence, " as jane was accepted") {
			t.Errorf("%s: %s: %s%s", verb, got.Status, got.Message, got.Evidence)
		}
		if want := []string{"jane", "dev", "ops"}; !slices.Equal(sent[verb], want) || len(sent["GET"]) != 0 {
			t.Errorf("%s was sent as %v, want %v; reads as %v", verb, sent[verb], want, sent["GET"])
		}
		step.As = nil
		if step.Create != nil && (s.do(t.Context(), step).Status == reports.Passed || len(sent[verb]) != 0) {
			t.Errorf("the next write was sent as %v", sent[verb])
		}
	}
}

// senderWith returns a sender with its own configuration.
func senderWith(t *testing.T, server *apitest.Server, config *rest.Config) *sender {
	t.Helper()
	s := newSender(t, server)
	client, err := dynamic.NewForConfig(writes.Configure(config, "rehearse/test"))
	if err != nil {
		t.Fatal(err)
	}
	s.Client = client
	return s
}

// If the client may not impersonate the user, the result is an error, not a rejection of the write.
func TestOwnRejectionIsNoVerdict(t *testing.T) {
	for said, want := range map[string]reports.Status{
		`users "jane" is forbidden: User "me" cannot impersonate resource "users" in API group "" at the cluster scope`:                                      reports.Error,
		`groups "dev" is forbidden: User "me" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope`:      reports.Error,
		`configmaps is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "ns"`:                                     reports.Passed,
		`configmaps "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is forbidden: User "jane" cannot impersonate anybody`: reports.Passed,
	} {
		server := apitest.New(t)
		server.Misbehave(always("create", apitest.Fault{Status: apitest.Status(403, "Forbidden", said)}))
		s := newSender(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		step := scenarios.Step{
			Create: configMap("web", nil), Expect: reject(scenarios.Rejection{Code: 403}),
			As: &scenarios.User{User: "jane"},
		}
		tried := ""
		got := s.Do(ctx, writes.Request{Step: &step, Manager: manager, Attempt: func(outcome string) {
			tried = outcome
			cancel()
		}})
		if got.Status != want || strings.Contains(tried, "could not be sent as user jane") != (want == reports.Error) {
			t.Errorf("%s: %s", got.Status, got.Message)
		}
		cancel()
	}
}
