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
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// callFront calls a webhook as the API server does.
func callFront(at *places.Place, ca []byte, path string) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: pool, MinVersion: tls.VersionTLS12,
	}}}
	answer, err := client.Get(at.Front.URL() + path)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

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
	golden.Must(t, err)
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		c.PutWebhook(kind, "a", "w", at.URL()+"/"+kind, "CREATE", string(ca))
	}
	c.probe = func(int) *metav1.Status {
		if callFront(at, ca, "/MutatingWebhookConfiguration") == nil {
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

// A program that registers its webhooks again after a restart is called through its front, as before. When it is
// removed, so are configurations that lead to the program itself.
func TestProgramThatRegistersItselfAgain(t *testing.T) {
	h, c := newHealth(t), newFakeCluster(t)
	s := newSet(t, c, Options{})
	system := h.system("a")
	system.Probes = []map[string]any{{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}}}
	converge(t, s, system)
	at := s.system("a").place
	ca, err := at.Authority()
	golden.Must(t, err)
	register := func() {
		c.PutWebhook("ValidatingWebhookConfiguration", "a", "w", at.URL()+"/w", "CREATE", string(ca))
	}
	register()
	h.set(never) // so nothing is proven
	s.Hold(t.Context())
	c.probe = func(int) *metav1.Status {
		_ = callFront(at, ca, "/w") // nothing answers behind the front
		return apitest.Failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	}
	system.WebhookCalls = &clusters.WebhookCalls{Away: true}
	converge(t, s, system)
	register()
	converge(t, s, system)
	if got := c.firstClient("a")["url"]; got != at.Front.URL()+"/w" {
		t.Errorf("called at %v, want the front", got)
	}
	register()
	converge(t, s)
	if left := c.Object("validatingwebhookconfigurations", "", "a"); left != nil {
		t.Errorf("left %v", left)
	}
}
