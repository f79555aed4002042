package places

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/clusters/forwarding"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// Places creates the places of processes, in one folder.
type Places struct {
	Cluster clusters.Cluster
	// Now is the clock, for certificates.
	Now func() time.Time
	// Keep: the processes outlive this one.
	Keep bool
	// Borrowed: the cluster is the user's own.
	Borrowed bool

	mu sync.Mutex
	// dir is the folder of the systems' folders, "" until it is needed, and discard removes it.
	dir     string
	discard func() error
	// proxy is how processes reach the API server; nil until it is needed.
	proxy *forwarding.Proxy
	// services by their names.
	services map[string]*Service
}

// direct: processes connect to the API server itself. This process runs the API server of its own clusters, and that of
// the user's own cluster if the user's test made it.
func (ps *Places) direct() bool {
	_, runsHere := ps.Cluster.(clusters.ProcessRunner)
	return ps.Keep || ps.Borrowed && !runsHere
}

// Make creates a place for a system's process, with its own user.
func (ps *Places) Make(name string) (*Place, error) {
	dir, err := ps.folder()
	if err != nil {
		return nil, err
	}
	p := &Place{Dir: filepath.Join(dir, name), host: ps.host(), served: &ports.Reservation{}, own: &ports.Reservation{}}
	if err := ps.furnish(p, name); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

func (ps *Places) furnish(p *Place, name string) (err error) {
	if err := p.empty(); err != nil {
		return err
	}
	if p.served, err = reserve(p.host, 1); err != nil {
		return err
	}
	if p.own, err = reserve(loopback, 2); err != nil {
		return err
	}
	config := ps.Cluster.RESTConfig()
	if maker, ok := ps.Cluster.(clusters.UserMaker); ok {
		if config, err = maker.User("rehearse:system:"+name, "system:masters"); err != nil {
			return fmt.Errorf("make a user: %w", err)
		}
	}
	if err := ps.proxied(config); err != nil {
		return err
	}
	return writeKubeconfig(config, p.kubeconfig())
}

// proxied makes a client's configuration use the proxy, where the API server is one of this machine.
func (ps *Places) proxied(config *rest.Config) error {
	server, err := url.Parse(config.Host)
	if err != nil || ps.direct() || server.Scheme != "https" || server.Hostname() != loopback ||
		server.Path+config.APIPath != "" {
		return nil //nolint:nilerr // a host without a scheme is no address of ours
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.proxy == nil {
		if ps.proxy, err = forwarding.Listen(ps.Cluster.RESTConfig()); err != nil {
			return err
		}
	}
	config.Host = ps.proxy.URL()
	return nil
}

// HoldConnections makes new connections of processes wait while the API server restarts, or no longer.
func (ps *Places) HoldConnections(held bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.proxy != nil {
		ps.proxy.Hold(held)
	}
}

// Close ends the proxy, and removes the folder.
func (ps *Places) Close() (err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.proxy != nil {
		err = ps.proxy.Close()
	}
	for _, left := range ps.services { // of systems that could not be stopped
		left.Close()
		left.held.Release()
	}
	if ps.dir != "" {
		err = errors.Join(err, ps.discard())
	}
	return err
}

// host is the address of this machine on which the API server reaches it.
func (ps *Places) host() string {
	if reachable, ok := ps.Cluster.(clusters.HostReachable); ok && reachable.HostAddress() != "" {
		return reachable.HostAddress()
	}
	return loopback
}

// folder returns the folder of the systems' folders. It is in the cluster's own folder, and so is removed with it even
// after a killed run.
func (ps *Places) folder() (string, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.dir != "" {
		return ps.dir, nil
	}
	var err error
	ps.discard = func() error { return os.RemoveAll(ps.dir) }
	housed, ok := ps.Cluster.(clusters.Housed)
	switch {
	case ok:
		ps.dir = filepath.Join(housed.Folder(), "systems")
		err = os.MkdirAll(ps.dir, 0o700)
	case ps.Keep: // the next run takes what is in a folder of scratch for the left-overs of a killed run
		ps.dir, err = os.MkdirTemp("", "rehearse-kept-systems-")
	default:
		ps.dir, ps.discard, err = scratch.Folder("systems")
		return ps.dir, err
	}
	if err != nil {
		return "", fmt.Errorf("make a folder for systems: %w", err)
	}
	return ps.dir, nil
}

// Owner is the name by which the cluster's own processes are found.
func (ps *Places) Owner() string {
	if housed, ok := ps.Cluster.(clusters.Housed); ok {
		return housed.Folder() + string(os.PathSeparator)
	}
	return scratch.Owner(ps.dir)
}

// Certify creates a new authority and a serving certificate. The certificates of each change are new, so a webhook
// configuration that was not updated with them is recognised as stale. ca is what the API server must trust: the
// authority, and those of the other replicas that may answer a call.
func (ps *Places) Certify(p *Place, hosts []string) (ca []byte, err error) {
	authority, err := certificates.NewAuthority(p.certDir(), ps.Now())
	if err != nil {
		return nil, err
	}
	if err := authority.Serving("tls", append([]string{p.host, loopback, "localhost"}, hosts...)...); err != nil {
		return nil, err
	}
	if !p.shared() {
		return p.Authority()
	}
	return ps.Authorities(p.Service)
}

// Authorities are the certificates of the authorities of all replicas of a service.
func (ps *Places) Authorities(s *Service) ([]byte, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return s.authorities()
}
