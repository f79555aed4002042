package transplant

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/rehearse-dev/rehearse/clusters/certificates"
)

// Recorder answers webhooks on loopback: it allows everything, and counts who would have been called.
type Recorder struct {
	server    *http.Server
	address   string
	authority []byte

	mu sync.Mutex
	// calls by the webhook: CONFIGURATION/WEBHOOK.
	calls map[string]int
}

// NewRecorder serves until Close.
func NewRecorder(ctx context.Context, now time.Time) (*Recorder, error) {
	certificate, authority, err := serving(now)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the answers to webhooks: %w", err)
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the answers to webhooks: %w", err)
	}
	r := &Recorder{address: listener.Addr().String(), authority: authority, calls: map[string]int{}}
	r.server = &http.Server{
		Handler: r, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() { _ = r.server.ServeTLS(listener, "", "") }() // it ends with Close
	return r, nil
}

// serving makes a certificate for loopback. No file of it stays.
func serving(now time.Time) (_ tls.Certificate, authority []byte, err error) {
	dir, err := os.MkdirTemp("", "rehearse-webhooks-")
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	issuer, err := certificates.NewAuthority(dir, now)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	if err := issuer.Serving("webhooks", "127.0.0.1"); err != nil {
		return tls.Certificate{}, nil, err
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "webhooks.crt"), filepath.Join(dir, "webhooks.key"))
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	authority, err = os.ReadFile(filepath.Join(dir, "ca.crt"))
	return certificate, authority, err
}

// Address for a webhook.
func (r *Recorder) Address(configuration, webhook string) (address url.URL, authority []byte) {
	return url.URL{Scheme: "https", Host: r.address, Path: "/" + configuration + "/" + webhook}, r.authority
}

// ServeHTTP allows whatever is asked.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil || review.Request == nil {
		http.Error(w, fmt.Sprintf("no AdmissionReview: %v", err), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.calls[strings.TrimPrefix(request.URL.Path, "/")]++
	r.mu.Unlock()
	answer := admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asks sees that the answer is cut off
}

// Notes on who would have been called.
func (r *Recorder) Notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var notes []string
	for name, n := range r.calls {
		notes = append(notes, fmt.Sprintf("webhook %s was not run: its %d requests were allowed, and nothing was changed", name, n))
	}
	slices.Sort(notes)
	return notes
}

// Close ends the answers: from then on its webhooks are down.
func (r *Recorder) Close() error { return r.server.Close() }
