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
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/rehearse-dev/rehearse/clusters/certificates"
)

// Hook is somebody whom an API server asks: a webhook of a configuration, or what converts a custom resource.
type Hook struct {
	// Name of the configuration, or of the CustomResourceDefinition; Webhook is its webhook's.
	Name, Webhook string
	// Service (NAMESPACE/NAME) that serves it in the other cluster, and the path there. "" where that is a URL.
	Service, Path string
	// Converts custom resources.
	Converts bool
}

// String names it.
func (h Hook) String() string {
	if h.Converts {
		return "conversion webhook of " + h.Name
	}
	return "webhook " + h.Name + "/" + h.Webhook
}

// Recorder answers webhooks on loopback: it allows everything and counts, or asks a program that answers in earnest.
type Recorder struct {
	server    *http.Server
	address   string
	authority []byte
	// programs by what they answer for: the name of a configuration, or of a Service.
	programs map[string]*Program

	mu    sync.Mutex
	hooks map[string]*asked
}

// asked is how often a hook was asked.
type asked struct {
	hook             Hook
	allowed, answers int
}

// NewRecorder serves until Close. Files are the programs that answer in earnest, by the name of the configuration or
// of the Service (NAMESPACE/NAME) that they answer for; they run once Start was called.
func NewRecorder(ctx context.Context, files map[string]string, now time.Time) (*Recorder, error) {
	certificate, authority, err := serving(now)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the answers to webhooks: %w", err)
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the answers to webhooks: %w", err)
	}
	r := &Recorder{
		address: listener.Addr().String(), authority: authority, hooks: map[string]*asked{},
		programs: map[string]*Program{},
	}
	for name, file := range files {
		r.programs[name] = &Program{Name: name, File: file}
	}
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
	if authority, err = certify(dir, now); err != nil {
		return tls.Certificate{}, nil, err
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	return certificate, authority, err
}

// certify writes tls.crt and tls.key for loopback into a folder, and the authority's ca.crt, which it returns.
func certify(dir string, now time.Time) ([]byte, error) {
	issuer, err := certificates.NewAuthority(dir, now)
	if err != nil {
		return nil, err
	}
	if err := issuer.Serving("tls", "127.0.0.1"); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "ca.crt"))
}

// Address at which a hook is asked, and the authority of who answers there.
func (r *Recorder) Address(h Hook) (address url.URL, authority []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := "/" + h.Name + "/" + h.Webhook
	if h.Converts {
		path = "/convert/" + h.Name
	}
	r.hooks[path] = &asked{hook: h}
	return url.URL{Scheme: "https", Host: r.address, Path: path}, r.authority
}

// Runs says whether a program answers for a hook.
func (r *Recorder) Runs(h Hook) bool { return r.program(h) != nil }

func (r *Recorder) program(h Hook) *Program {
	if p := r.programs[h.Name]; p != nil {
		return p
	}
	return r.programs[h.Service]
}

// ServeHTTP has a program answer, or allows what is asked.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	a := r.hooks[request.URL.Path]
	r.mu.Unlock()
	if a == nil {
		http.NotFound(w, request)
		return
	}
	if p := r.program(a.hook); p != nil && p.serves() {
		r.count(&a.answers)
		p.answer(w, request, a.hook.Path)
		return
	}
	if a.hook.Converts {
		http.Error(w, "its program is not ready yet", http.StatusServiceUnavailable)
		return
	}
	if allow(w, request) {
		r.count(&a.allowed)
	}
}

func (r *Recorder) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

func allow(w http.ResponseWriter, request *http.Request) bool {
	var review admissionv1.AdmissionReview
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil || review.Request == nil {
		http.Error(w, fmt.Sprintf("no AdmissionReview: %v", err), http.StatusBadRequest)
		return false
	}
	answer := admissionv1.AdmissionReview{
		TypeMeta: review.TypeMeta,
		Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true},
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asks sees that the answer is cut off
	return true
}

// Notes on who was asked, and who answered.
func (r *Recorder) Notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var notes []string
	for _, a := range r.hooks {
		if p := r.program(a.hook); p != nil {
			notes = append(notes,
				fmt.Sprintf("%s: %s answered %d requests; %d came before it served, and were allowed", a.hook, p.File,
					a.answers, a.allowed))
		} else if a.allowed > 0 {
			notes = append(notes, fmt.Sprintf("%s was not run: its %d requests were allowed, and nothing was changed",
				a.hook, a.allowed))
		}
	}
	slices.Sort(notes)
	return notes
}

// Down ends the answers: from then on all webhooks are down.
func (r *Recorder) Down() error { return r.server.Close() }

// Close ends the programs, too.
func (r *Recorder) Close() error {
	errs := []error{r.Down()}
	for _, p := range r.programs {
		errs = append(errs, p.stop())
	}
	return errors.Join(errs...)
}
