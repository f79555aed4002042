package local

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
)

// DNS returns the address of a CoreDNS that serves the cluster's Services. The first call starts it.
func (c *Cluster) DNS(ctx context.Context) (string, error) {
	c.dnsStart.Lock()
	defer c.dnsStart.Unlock()
	address := loopback(c.layout.Ports.DNS)
	if err := keepUp(c.programs, dnsProcess, dnsServer(c.programs)); err != nil {
		return "", err
	}
	if err := answersDNS(ctx, c.programs); err != nil {
		return "", err
	}
	return address, nil
}

// dnsServer is how this program serves the cluster's DNS.
func dnsServer(c *programs) started {
	return started{Program: c.provider.Executable, Args: []string{
		component.Command, "dns", "--address=" + loopback(c.layout.Ports.DNS),
		"--ready-address=" + loopback(c.layout.Ports.DNSReady), "--kubeconfig=" + c.layout.kubeconfig(),
	}}
}

// answersDNS waits until the DNS server is ready.
func answersDNS(ctx context.Context, c *programs) error {
	err := c.await(ctx, clusters.Component(dnsProcess), func(ctx context.Context) (bool, error) {
		_, err := c.probe.get(ctx, "http://"+loopback(c.layout.Ports.DNSReady)+"/ready")
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("start the DNS server: %w", err)
	}
	return nil
}
