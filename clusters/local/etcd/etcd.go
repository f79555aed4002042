// Package etcd runs one etcd member in this process.
package etcd

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
)

// Config of the member. The member listens only on loopback. Any user of the machine can connect to loopback, so the
// member rejects clients without a certificate of its authority.
type Config struct {
	// DataDir is the folder of its data.
	DataDir string
	// ClientURL and PeerURL are its addresses: https://127.0.0.1:PORT.
	ClientURL, PeerURL string
	// CertFile and KeyFile are its serving certificate. CAFile is the authority that signed the certificates of its
	// clients.
	CertFile, KeyFile, CAFile string
}

// Run serves until the context ends. It does not sync writes to disk: a crash of the machine may lose the data of a
// test cluster, but a crash of the process does not.
func Run(ctx context.Context, c Config) error {
	client, err := url.Parse(c.ClientURL)
	if err != nil {
		return fmt.Errorf("client URL %q: %w", c.ClientURL, err)
	}
	peer, err := url.Parse(c.PeerURL)
	if err != nil {
		return fmt.Errorf("peer URL %q: %w", c.PeerURL, err)
	}
	config := embed.NewConfig()
	config.Name = "rehearse"
	config.Dir = c.DataDir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.ClientTLSInfo = transport.TLSInfo{
		CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile,
		ClientCertAuth: true,
	}
	config.PeerTLSInfo = config.ClientTLSInfo
	config.EnableGRPCGateway = false
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	config.QuotaBackendBytes = 8 << 30
	// A single member elects itself. It need not wait for others for the default of one second.
	config.TickMs, config.ElectionMs = 10, 100
	server, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("start etcd in %s: %w", c.DataDir, err)
	}
	defer server.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Err():
		return fmt.Errorf("etcd ended: %w", err)
	}
}
