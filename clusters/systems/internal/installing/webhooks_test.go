package installing

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// TestStaleWebhooks: webhook configurations for a process's address with another authority are from an earlier start.
func TestStaleWebhooks(t *testing.T) {
	c := apitest.New(t, apitest.Extensions()...)
	const at = "https://127.0.0.1:2000"
	c.PutWebhook("ValidatingWebhookConfiguration", "fresh", "a", at+"/a", "CREATE", "new\n")
	c.PutWebhook("MutatingWebhookConfiguration", "stale", "b", at+"/b", "CREATE", "old")
	c.PutWebhook("ValidatingWebhookConfiguration", "neighbour", "c", at+"1/c", "CREATE", "old")
	s := newInstaller(t, c)
	golden.Must(t, s.DeleteStale(t.Context(), at, []byte("new")))
	if c.Count("validatingwebhookconfigurations") != 2 || c.Count("mutatingwebhookconfigurations") != 0 {
		t.Errorf("left are %v and %v", c.Objects("validatingwebhookconfigurations"), c.Objects("mutatingwebhookconfigurations"))
	}
	hooks, err := s.Webhooks.At(t.Context(), at)
	if err != nil || len(hooks) != 1 || hooks[0].Name != "a" || hooks[0].Step != "validating" || !hooks[0].Creates {
		t.Errorf("%+v, %v", hooks, err)
	}
}
