package systems

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// For a program that is not ready, one call of the proxy is enough: a mutating webhook that does not answer prevents the
// calls of validating ones.
func TestCallsOfASystemThatIsNotReady(t *testing.T) {
	h, c := newHealth(t), newFakeCluster(t)
	s := newSet(t, c, Options{})
	system := h.system("a")
	system.Probes = []map[string]any{{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}}}
	converge(t, s, system)
	at := s.system("a").place
	ca, err := at.Authority()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		c.PutWebhook(kind, "a", "w", at.URL()+"/"+kind, "CREATE", string(ca))
	}
	c.probe = func(int) *metav1.Status {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: pool, MinVersion: tls.VersionTLS12,
		}}}
		if answer, err := client.Get(at.Front.URL() + "/MutatingWebhookConfiguration"); err == nil {
			_ = answer.Body.Close()
			t.Error("the program answers")
		}
		return apitest.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	}
	h.set(never)
	s.Hold(t.Context())
	system.WebhookCalls = &clusters.WebhookCalls{Delay: "1ms"}
	converge(t, s, system)
	if c.probes == 0 || at.Front.Calls().Delay != "1ms" {
		t.Errorf("%d probes, calls are %+v", c.probes, at.Front.Calls())
	}
}

// A system without webhooks rejects webhookCalls, and a change of webhookCalls does not restart its process.
func TestCallsOfASystemWithoutWebhooks(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	converge(t, s, sleeper("a"))
	before := pid(s, "a")
	changed := sleeper("a")
	changed.WebhookCalls = &clusters.WebhookCalls{Away: true}
	err := s.Converge(t.Context(), []clusters.System{changed})
	if err == nil || !strings.Contains(err.Error(), "the API server calls no webhook of this system's process") {
		t.Errorf("got %v", err)
	}
	if pid(s, "a") != before {
		t.Error("its process was restarted")
	}
	if _, err := os.Stat(s.system("a").place.File("certs/expired.crt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has an expired certificate: %v", err)
	}
}
