package realtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

// A program that registers its webhook itself has one address for all of its replicas. webhookCalls changes how that
// address answers.
func TestReplicasBehindAService(t *testing.T) {
	result := execute(t, clustertest.Local(t), besideProgram(t, "testdata/replicas"), 1)
	if got := result.Tracks[0].Scenarios[0]; got.Status != reports.Passed {
		t.Errorf("%s, want passed:\n%s", got.Status, explain(result))
	}
}

// runDenier rejects every ConfigMap. Its replicas share a certificate of their own, which they keep in the cluster.
func runDenier(client dynamic.Interface, _ []string) error {
	pair, ca, err := sharedPair(client)
	if err != nil {
		return err
	}
	if err := register(client, "https://"+os.Getenv("SERVICE_ADDRESS")+"/deny", ca); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/deny", deny)
	server := &http.Server{
		Addr: net.JoinHostPort(os.Getenv("WEBHOOK_HOST"), os.Getenv("WEBHOOK_PORT")), Handler: mux,
		ReadHeaderTimeout: time.Minute,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	return server.ListenAndServeTLS("", "")
}

func deny(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Result: &metav1.Status{Code: 403, Reason: "Forbidden", Message: "never"},
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // a client that is gone needs no answer
}

// sharedPair returns the certificate that the first replica made, and its authority as a caBundle.
func sharedPair(client dynamic.Interface) (tls.Certificate, string, error) {
	ctx, secrets := context.Background(),
		client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("denier")
	certificate, key, err := newPair()
	if err != nil {
		return tls.Certificate{}, "", err
	}
	text := base64.StdEncoding.EncodeToString
	_, err = secrets.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "pair"},
		"data": map[string]any{"certificate": text(certificate), "key": text(key)},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return tls.Certificate{}, "", err
	}
	stored, err := secrets.Get(ctx, "pair", metav1.GetOptions{})
	if err != nil {
		return tls.Certificate{}, "", err
	}
	data, _, _ := unstructured.NestedStringMap(stored.Object, "data")
	certificate, err1 := base64.StdEncoding.DecodeString(data["certificate"])
	key, err2 := base64.StdEncoding.DecodeString(data["key"])
	if err := errors.Join(err1, err2); err != nil {
		return tls.Certificate{}, "", err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return pair, data["certificate"], err
}

// newPair returns a certificate for loopback that signs itself, and its key, as PEM.
func newPair() (certificate, key []byte, err error) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}

// register points the webhook to a URL.
func register(client dynamic.Interface, url, ca string) error {
	configurations := client.Resource(schema.GroupVersionResource{
		Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations",
	})
	_, err := configurations.Apply(context.Background(), "denier", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "denier"},
		"webhooks": []any{map[string]any{
			"name": "denier.rehearse.dev", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None",
			"failurePolicy": "Fail", "timeoutSeconds": int64(1),
			"clientConfig": map[string]any{"url": url, "caBundle": ca},
			"namespaceSelector": map[string]any{"matchExpressions": []any{map[string]any{
				"key": "kubernetes.io/metadata.name", "operator": "NotIn",
				"values": []any{"kube-system", "kube-public", "kube-node-lease", "default", "denier"},
			}}},
			"rules": []any{map[string]any{
				"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"},
				"resources": []any{"configmaps"},
			}},
		}},
	}}, metav1.ApplyOptions{FieldManager: "denier", Force: true})
	return err
}
