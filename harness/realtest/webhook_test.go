package realtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// webhookServer answers admission reviews differently at each path.
type webhookServer struct {
	*httptest.Server
	// trusted is its own certificate, and strange that of somebody else; both as a caBundle.
	trusted, strange string
}

func newWebhooks(t testing.TB) *webhookServer {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/deny", deny)
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client gives up
		<-r.Context().Done()
	})
	mux.HandleFunc("/garbage", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") })
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/stranger", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w,
			`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"somebody-else","allowed":false}}`)
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "out of order", http.StatusInternalServerError)
	})
	s := &webhookServer{Server: httptest.NewUnstartedServer(mux)}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // untrusted certificates are intended
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	s.trusted, s.strange = bundle(s.Certificate().Raw), bundle(selfSigned(t))
	return s
}

func bundle(der []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func selfSigned(t testing.TB) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	golden.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody else"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	golden.Must(t, err)
	return der
}

// configuration is a step that installs a validating webhook for the ConfigMaps of the scenario's namespace, and for
// PriorityClasses whose label by is the scenario's id.
func configuration(url, caBundle, failurePolicy string) string {
	return fmt.Sprintf(`
  - name: the webhook
    create:
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingWebhookConfiguration
      metadata: {name: "${scenario.id}"}
      webhooks:
      - name: test.rehearse.dev
        admissionReviewVersions: [v1]
        sideEffects: None
        failurePolicy: %s
        timeoutSeconds: 1
        clientConfig: {url: %q, caBundle: %s}
        namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "${namespace}"}}
        rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
      - name: classes.rehearse.dev
        admissionReviewVersions: [v1]
        sideEffects: None
        failurePolicy: %s
        timeoutSeconds: 1
        clientConfig: {url: %q, caBundle: %s}
        objectSelector: {matchLabels: {by: "${scenario.id}"}}
        rules: [{operations: [CREATE], apiGroups: [scheduling.k8s.io], apiVersions: [v1], resources: [priorityclasses]}]`,
		failurePolicy, url, caBundle, failurePolicy, url, caBundle)
}
