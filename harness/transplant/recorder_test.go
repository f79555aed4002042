package transplant_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// answerWebhooks is a webhook program that denies all requests. Its message contains the path of the request. A request
// to /exit ends it.
func answerWebhooks() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/exit" {
			fmt.Println("the licence expired")
			os.Exit(4)
		}
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID:    review.Request.UID,
			Result: &metav1.Status{Message: "denied at " + request.URL.Path},
		}
		_ = json.NewEncoder(w).Encode(review)
	})
	dir := os.Getenv("CERT_DIR")
	server := &http.Server{
		Addr: os.Getenv("WEBHOOK_HOST") + ":" + os.Getenv("WEBHOOK_PORT"), Handler: handler,
		ReadHeaderTimeout: time.Second,
	}
	panic(server.ListenAndServeTLS(dir+"/tls.crt", dir+"/tls.key"))
}

// housed is a cluster that has only a folder.
type housed struct {
	clusters.Cluster
	dir string
}

func (h housed) Folder() string         { return h.dir }
func (h housed) KubeconfigPath() string { return h.dir + "/kubeconfig" }

func ask(t *testing.T, r *transplant.Recorder, h transplant.Hook) string {
	t.Helper()
	address, authority := r.Address(h)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs:    trusted,
		MinVersion: tls.VersionTLS12,
	}, DisableKeepAlives: true}}
	body, err := json.Marshal(admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: "u"}})
	golden.Must(t, err)
	response, err := client.Post(address.String(), "application/json", bytes.NewReader(body))
	if err != nil {
		return "nobody answers"
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	golden.Must(t, err)
	var review admissionv1.AdmissionReview
	switch err := json.Unmarshal(text, &review); {
	case err != nil:
		return strings.TrimSpace(string(text))
	case review.Response.UID != "u":
		t.Errorf("an answer to %s", review.Response.UID)
	case review.Response.Allowed:
		return "allowed"
	}
	return review.Response.Result.Message
}

func TestRecorder(t *testing.T) {
	program, err := os.Executable()
	golden.Must(t, err)
	r, err := transplant.NewRecorder(t.Context(), map[string]string{"ns/policy": program}, time.Now())
	golden.Must(t, err)
	recorded := transplant.Hook{Name: "a", Webhook: "w", Service: "ns/other", Path: "/x"}
	answered := transplant.Hook{Name: "b", Webhook: "w", Service: "ns/policy", Path: "/validate"}
	mutates := transplant.Hook{Name: "b", Webhook: "w", Service: "ns/policy", Path: "/mutate", Mutates: true}
	converts := transplant.Hook{Name: "c", Service: "ns/policy", Path: "/convert", Converts: true}
	if r.Runs(recorded) || !r.Runs(answered) {
		t.Error("it does not know for whom a program answers")
	}
	expect := func(h transplant.Hook, want string) {
		t.Helper()
		if got := ask(t, r, h); got != want {
			t.Errorf("%s: %s, want %s", h, got, want)
		}
	}
	expect(answered, "allowed")
	expect(converts, "its program is not ready yet")
	golden.Must(t, r.Start(t.Context(), housed{dir: t.TempDir()}, time.Now()))
	expect(recorded, "allowed")
	if got, want := strings.Join(r.Notes(), "; "),
		"webhook a/w was not run: its 1 requests were allowed"; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	r.Address(answered)
	r.Address(mutates) // the names of another kind of configuration may be the same
	expect(answered, "denied at /validate")
	expect(mutates, "denied at /mutate")
	expect(answered, "denied at /validate")
	expect(converts, "denied at /convert")
	golden.Must(t, r.Down())
	expect(recorded, "nobody answers")
	golden.Must(t, r.Close())
}

// A program that exits after it has served is noticed, with its output. Its webhooks then fail, and others do not.
func TestProgramThatExitsLater(t *testing.T) {
	program, err := os.Executable()
	golden.Must(t, err)
	r, err := transplant.NewRecorder(t.Context(), map[string]string{"ns/policy": program}, time.Now())
	golden.Must(t, err)
	answered := transplant.Hook{Name: "b", Webhook: "w", Service: "ns/policy", Path: "/validate"}
	r.Address(answered)
	golden.Must(t, r.Start(t.Context(), housed{dir: t.TempDir()}, time.Now()))
	if got := ask(t, r, answered); got != "denied at /validate" {
		t.Error(got)
	}
	golden.Must(t, r.Death())
	if got := ask(t, r, transplant.Hook{Name: "c", Webhook: "w", Service: "ns/policy", Path: "/exit"}); !strings.HasPrefix(
		got, "its program does not answer: ") {
		t.Error(got)
	}
	golden.Must(t, wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return r.Death() != nil, nil }))
	if text := r.Death().Error(); !strings.Contains(text, "which answered the webhooks of ns/policy") ||
		!strings.Contains(text, "exit status 4") || !strings.Contains(text, "the licence expired") {
		t.Error(text)
	}
	if got := ask(t, r, answered); got != "its program has exited" {
		t.Error(got)
	}
	if got := ask(t, r, transplant.Hook{Name: "a", Webhook: "w", Service: "ns/other", Path: "/x"}); got != "allowed" {
		t.Error(got)
	}
	golden.Must(t, r.Close())
	// A program that is stopped on purpose has not died.
	r, err = transplant.NewRecorder(t.Context(), map[string]string{"ns/policy": program}, time.Now())
	golden.Must(t, err)
	r.Address(answered)
	golden.Must(t, r.Start(t.Context(), housed{dir: t.TempDir()}, time.Now()))
	golden.Must(t, r.Close())
	golden.Must(t, r.Death())
}

// If a program ends instead of serving, the error contains its output and exit status.
func TestProgramThatEnds(t *testing.T) {
	program := t.TempDir() + "/program"
	golden.Must(t, os.WriteFile(program, []byte("#!/bin/sh\necho no licence\nexit 3\n"), 0o700))
	r, err := transplant.NewRecorder(t.Context(), map[string]string{"a": program}, time.Now())
	golden.Must(t, err)
	r.Address(transplant.Hook{Name: "b", Webhook: "w"})
	golden.Error(t, r.Start(t.Context(), housed{dir: t.TempDir()}, time.Now()),
		"no webhook of the copy is called a; there are: b")
	r.Address(transplant.Hook{Name: "a", Webhook: "w"})
	err = r.Start(t.Context(), housed{dir: t.TempDir()}, time.Now())
	if err == nil || !strings.Contains(err.Error(), "no licence") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	golden.Must(t, r.Close())
}
