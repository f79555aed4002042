package local

import (
	"context"
	"net"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/balancer"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
)

// startBalancer starts the balancer before several API servers; a single one needs none.
func (c *programs) startBalancer(ctx context.Context) error {
	if !c.layout.several() {
		return nil
	}
	var servers []string
	for _, instance := range c.layout.instances(clusters.APIServer) {
		servers = append(servers, loopback(c.layout.Ports.of(instance)))
	}
	address := loopback(c.layout.Ports.APIServer)
	if err := c.start(balancerProcess, started{Program: c.provider.Executable, Args: []string{
		component.Command, "balancer", "--address=" + address, "--servers=" + strings.Join(servers, ","),
		"--leaving-dir=" + string(c.layout.leaving()), "--ca-file=" + c.layout.pki("ca.crt"),
		"--cert-file=" + c.layout.pki("admin.crt"), "--key-file=" + c.layout.pki("admin.key"),
	}}); err != nil {
		return err
	}
	return c.await(ctx, balancerProcess, func(ctx context.Context) (bool, error) { return dials(ctx, address) })
}

// leaving are the API servers that are about to stop.
func (l layout) leaving() balancer.Leaving { return balancer.Leaving(filepath.Join(l.Dir, "leaving")) }

// dials reports whether something listens on an address.
func dials(ctx context.Context, address string) (bool, error) {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false, err
	}
	return true, connection.Close()
}
