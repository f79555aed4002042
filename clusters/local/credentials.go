package local

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/rehearse-dev/rehearse/clusters/certificates"
)

// writeCredentials creates the certificates, keys and the kubeconfig of a new cluster.
func writeCredentials(l layout, now time.Time) error {
	authority, err := certificates.NewAuthority(filepath.Join(l.Dir, "pki"), now)
	if err != nil {
		return err
	}
	if err := writeEtcdCredentials(l, now); err != nil {
		return err
	}
	if err := authority.Serving("server", "127.0.0.1", "localhost", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local"); err != nil {
		return err
	}
	if err := authority.Client("admin", "rehearse-admin", "system:masters"); err != nil {
		return err
	}
	if err := writeFrontProxyCredentials(l, now); err != nil {
		return err
	}
	if err := authority.KeyPair("service-account"); err != nil {
		return err
	}
	return writeKubeconfigs(l)
}

// writeEtcdCredentials creates an authority only for etcd. A client certificate of the cluster, such as that of a user
// in a scenario, must not give access to etcd.
func writeEtcdCredentials(l layout, now time.Time) error {
	authority, err := certificates.NewAuthority(l.etcdPKI(""), now)
	if err != nil {
		return err
	}
	if err := authority.Serving("server", "127.0.0.1", "localhost"); err != nil {
		return err
	}
	return authority.Client("client", "rehearse")
}

// writeFrontProxyCredentials creates an authority only for the front proxy, which may act as any user. It also saves an
// API server the time to verify each request's client certificate twice.
func writeFrontProxyCredentials(l layout, now time.Time) error {
	authority, err := certificates.NewAuthority(l.pki("front-proxy"), now)
	if err != nil {
		return err
	}
	return authority.Client("client", "front-proxy")
}

// etcdTLS is the TLS configuration of etcd's clients.
func (l layout) etcdTLS() (*tls.Config, error) {
	config, err := transport.TLSInfo{
		CertFile: l.etcdPKI("client.crt"), KeyFile: l.etcdPKI("client.key"),
		TrustedCAFile: l.etcdPKI("ca.crt"),
	}.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the certificates of etcd's clients: %w", err)
	}
	return config, nil
}

// User creates a client certificate, signed by the cluster's authority.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	authority, err := certificates.OpenAuthority(filepath.Join(c.layout.Dir, "pki"), c.provider.Now())
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(c.RESTConfig())
	config.CertData, config.KeyData, err = authority.ClientPEM(name, groups...)
	return config, err
}

// writeKubeconfig embeds the credentials, so that the file can be copied.
func writeKubeconfig(l layout, path, server string) error {
	const name = "rehearse"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{
		Server: server, CertificateAuthority: l.pki("ca.crt"),
		DisableCompression: true, // on loopback it takes more time than it saves
	}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificate: l.pki("admin.crt"), ClientKey: l.pki("admin.key")}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := api.FlattenConfig(config); err != nil {
		return fmt.Errorf("embed credentials in the kubeconfig: %w", err)
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
