package transplant

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// Program is a real program that answers webhooks. Its environment says where it must serve: CERT_DIR (a folder with
// tls.crt, tls.key and ca.crt), WEBHOOK_HOST and WEBHOOK_PORT. KUBECONFIG is for access to the copy.
type Program struct {
	// Name of the configuration or Service that it answers for. File is the executable.
	Name, File string

	held    *ports.Reservation
	process *processes.Process
	forward atomic.Pointer[httputil.ReverseProxy]
}

// programTimeout is how long a program may take to accept connections, and programTry the pause between tries.
// programEnd is how long it may take to stop.
const (
	programTimeout = time.Minute
	programTry     = 100 * time.Millisecond
	programEnd     = 10 * time.Second
)

// Start starts the programs, with their files in the copy's folder. It returns when all of them serve.
func (r *Recorder) Start(ctx context.Context, copied clusters.Cluster, now time.Time) error {
	if len(r.programs) == 0 {
		return nil
	}
	if err := r.unasked(); err != nil {
		return err
	}
	housed, ok := copied.(clusters.Housed)
	if !ok {
		return errors.New("programs can answer webhooks only for local clusters")
	}
	dir := filepath.Join(housed.Folder(), "webhooks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the programs that answer webhooks: %w", err)
	}
	authority, err := certify(dir, now)
	if err != nil {
		return fmt.Errorf("make a certificate for the programs that answer webhooks: %w", err)
	}
	spawner := processes.NewSpawner()
	for _, p := range r.programs {
		if err := p.start(ctx, spawner, dir, authority, copied.KubeconfigPath()); err != nil {
			return fmt.Errorf("start %s, which answers the webhooks of %s: %w", p.File, p.Name, err)
		}
	}
	return nil
}

// unasked returns an error for each program that would answer no hook.
func (r *Recorder) unasked() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]bool{}
	for _, a := range r.hooks {
		names[a.hook.Name] = true
		if a.hook.Service != "" {
			names[a.hook.Service] = true
		}
	}
	var errs []error
	for _, name := range clusters.SortedKeys(r.programs) {
		if !names[name] {
			errs = append(errs, fmt.Errorf("no webhook of the copy is called %s; there are: %s", name,
				strings.Join(clusters.SortedKeys(names), ", ")))
		}
	}
	return errors.Join(errs...)
}

func (p *Program) start(ctx context.Context, spawner *processes.Spawner, dir string, authority []byte,
	kubeconfig string,
) (err error) {
	if p.held, err = ports.Reserve("127.0.0.1", 1); err != nil {
		return err
	}
	port := strconv.Itoa(p.held.Numbers[0])
	p.process, err = spawner.Start(processes.Spec{
		Name: "webhook", Program: p.File, Dir: dir, LogDir: dir, Owner: dir,
		Env: []string{"KUBECONFIG=" + kubeconfig, "CERT_DIR=" + dir, "WEBHOOK_HOST=127.0.0.1", "WEBHOOK_PORT=" + port},
	})
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", port)
	if err := p.accepts(ctx, address); err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: address})
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, "its program does not answer: "+err.Error(), http.StatusBadGateway)
	}
	p.forward.Store(proxy)
	return nil
}

// accepts waits until the program accepts connections at the address.
func (p *Program) accepts(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	var dialer net.Dialer
	for {
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-p.process.Done():
			return p.process.Failure()
		case <-ctx.Done():
			return fmt.Errorf("nothing accepts connections at %s (WEBHOOK_HOST, WEBHOOK_PORT) within %s; its log: %s",
				address, programTimeout, processes.LastLines(p.process.LogFile, 12))
		case <-time.After(programTry):
		}
	}
}

func (p *Program) serves() bool { return p.forward.Load() != nil }

// death is how the program exited, with its last output; nil if it serves, or was stopped or never served.
func (p *Program) death() error {
	if !p.serves() {
		return nil
	}
	select {
	case <-p.process.Done():
		if p.process.Expected() {
			return nil
		}
		return fmt.Errorf("%s, which answered the webhooks of %s: %w", p.File, p.Name, p.process.Failure())
	default:
		return nil
	}
}

// answer forwards a request to the program, at the path of the original webhook.
func (p *Program) answer(w http.ResponseWriter, request *http.Request, path string) {
	request.URL.Path = path
	p.forward.Load().ServeHTTP(w, request)
}

func (p *Program) stop() error {
	if p.held != nil {
		p.held.Release()
	}
	if p.process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), programEnd)
	defer cancel()
	return p.process.Kill(ctx)
}
