package transplant

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// Hook is a webhook that an API server calls: one of a webhook configuration, or the conversion webhook of a custom
// resource.
type Hook struct {
	// Name of the configuration or the CustomResourceDefinition. Webhook is the name of the webhook in the
	// configuration.
	Name, Webhook string
	// Service (NAMESPACE/NAME) that serves it in the other cluster; "" if it is called by URL. Path is the URL path.
	Service, Path string
	// Converts says that it converts custom resources, and Mutates that it may change objects.
	Converts, Mutates bool
}

// String names the hook.
func (h Hook) String() string {
	if h.Converts {
		return "conversion webhook of " + h.Name
	}
	if h.Mutates {
		return "mutating webhook " + h.Name + "/" + h.Webhook
	}
	return "webhook " + h.Name + "/" + h.Webhook
}

// Recorder answers webhooks on loopback. It forwards a request to the hook's program. Without a program, it allows
// and counts the request.
type Recorder struct {
	server    *http.Server
	address   string
	authority []byte
	// programs by the name of the configuration or Service that they answer for.
	programs map[string]*Program

	mu    sync.Mutex
	hooks map[string]*asked
}

// asked counts the requests to a hook.
type asked struct {
	hook             Hook
	allowed, answers int
}

// NewRecorder returns a Recorder that serves until Close. files are the programs that answer, by the name of the
// configuration or Service (NAMESPACE/NAME) that they answer for. Start starts them.
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

// serving creates a certificate for loopback. It deletes the certificate's files.
func serving(now time.Time) (_ tls.Certificate, authority []byte, err error) {
	dir, remove, err := scratch.Folder("webhooks")
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if authority, err = certify(dir, now); err != nil {
		return tls.Certificate{}, nil, err
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	return certificate, authority, err
}

// certify writes tls.crt and tls.key for loopback, and the authority's ca.crt, into a folder. It returns the content
// of ca.crt.
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

// Address returns the URL that answers a hook, and the CA certificate of the server there.
func (r *Recorder) Address(h Hook) (address url.URL, authority []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := "/validate/" + h.Name + "/" + h.Webhook
	switch {
	case h.Converts:
		path = "/convert/" + h.Name
	case h.Mutates: // a configuration of the other kind may have the same names
		path = "/mutate/" + h.Name + "/" + h.Webhook
	}
	r.hooks[path] = &asked{hook: h}
	return url.URL{Scheme: "https", Host: r.address, Path: path}, r.authority
}

// Runs reports whether a program answers a hook.
func (r *Recorder) Runs(h Hook) bool { return r.program(h) != nil }

func (r *Recorder) program(h Hook) *Program {
	if p := r.programs[h.Name]; p != nil {
		return p
	}
	return r.programs[h.Service]
}

// ServeHTTP forwards a request to the hook's program, or allows it.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	a := r.hooks[request.URL.Path]
	r.mu.Unlock()
	if a == nil {
		http.NotFound(w, request)
		return
	}
	if p := r.program(a.hook); p != nil && p.serves() {
		if p.death() != nil {
			http.Error(w, "its program has exited", http.StatusBadGateway)
			return
		}
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
	_ = json.NewEncoder(w).Encode(answer) // the API server sees that the answer is truncated
	return true
}

// Notes returns how many requests each hook got, and what answered them.
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

// Death returns an error if a program exited after it had begun to serve: from then on, its webhooks fail.
func (r *Recorder) Death() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(r.programs)) {
		errs = append(errs, r.programs[name].death())
	}
	return errors.Join(errs...)
}

// Down stops the server. From then on, all webhooks fail.
func (r *Recorder) Down() error { return r.server.Close() }

// Close stops the server and the programs.
func (r *Recorder) Close() error {
	errs := []error{r.Down()}
	for _, p := range r.programs {
		errs = append(errs, p.stop())
	}
	return errors.Join(errs...)
}
