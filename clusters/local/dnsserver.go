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
	address, readyAddress := loopback(c.layout.Ports.DNS), loopback(c.layout.Ports.DNSReady)
	if c.process(dnsProcess) == nil {
		err := c.start(dnsProcess, started{Program: c.provider.Executable, Args: []string{
			component.Command, "dns", "--address=" + address, "--ready-address=" + readyAddress, "--kubeconfig=" +
				c.layout.kubeconfig(),
		}})
		if err != nil {
			return "", err
		}
	}
	err := c.await(ctx, clusters.Component(dnsProcess), func(ctx context.Context) (bool, error) {
		_, err := c.probe.get(ctx, "http://"+readyAddress+"/ready")
		return err == nil, err
	})
	if err != nil {
		return "", fmt.Errorf("start the DNS server: %w", err)
	}
	return address, nil
}
