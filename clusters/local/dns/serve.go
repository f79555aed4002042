// Package dns serves a cluster's DNS with CoreDNS and its kubernetes plugin.
package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	// The plugins register themselves.
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"

	"github.com/rehearse-dev/rehearse/clusters/forwarding"
)

// Zone is the cluster domain that is served.
const Zone = "cluster.local"

// Config of the server.
type Config struct {
	// Address is where the server answers, over UDP and TCP: 127.0.0.1:PORT.
	Address string
	// ReadyAddress is where the server answers /ready over HTTP.
	ReadyAddress string
	// Kubeconfig is the path of the kubeconfig for the API server.
	Kubeconfig string
}

// Run serves until the context ends.
func Run(ctx context.Context, c Config) error {
	proxied := filepath.Join(filepath.Dir(c.Kubeconfig), "dns.kubeconfig")
	proxy, err := forwarding.Kubeconfig(c.Kubeconfig, proxied)
	if err != nil {
		return err
	}
	defer proxy.Close()
	proxy.Hold(true)
	c.Kubeconfig = proxied
	corefile, err := c.corefile()
	if err != nil {
		return err
	}
	instance, err := start(corefile)
	if err != nil {
		return fmt.Errorf("start CoreDNS on %s: %w", c.Address, err)
	}
	<-ctx.Done()
	return errors.Join(instance.ShutdownCallbacks()...)
}

// start starts CoreDNS without its messages, which it prints before it returns.
func start(corefile string) (*caddy.Instance, error) {
	dnsserver.Quiet = true
	return caddy.Start(caddy.CaddyfileInput{
		Filepath: "Corefile", Contents: []byte(corefile),
		ServerTypeName: "dns",
	})
}

// corefile returns the configuration of CoreDNS. It has no cache and a TTL of 0, so that every answer is the API
// server's current state.
func (c Config) corefile() (string, error) {
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return "", fmt.Errorf("DNS address %q: %w", c.Address, err)
	}
	return fmt.Sprintf(`%[1]s:%[2]s in-addr.arpa:%[2]s ip6.arpa:%[2]s {
  bind %[3]s
  errors
  ready %[4]s
  kubernetes %[1]s in-addr.arpa ip6.arpa {
    kubeconfig %[5]q
    pods insecure
    ttl 0
  }
}
`, Zone, port, host, c.ReadyAddress, c.Kubeconfig), nil
}
