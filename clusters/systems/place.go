package systems

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientconfig "k8s.io/client-go/tools/clientcmd/api"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// loopback is the address on which only this machine can connect.
const loopback = "127.0.0.1"

// place has the folder and ports of a system's process. It stays the same through all changes of the system.
type place struct {
	dir, host string
	// certs is the folder of the certificates in dir, port the port of the webhooks: both from the definition, or by
	// default certs and a free port.
	certs string
	port  int
	// served are the ports on host, for webhooks; own are those on loopback, for health and metrics.
	served, own *ports.Reservation
	// front is called instead of the program, if set.
	front *front
	// service in front of the program, if its definition has one.
	service *service
}

func (p *place) file(name string) string { return filepath.Join(p.dir, name) }
func (p *place) certDir() string         { return p.file(p.certs) }
func (p *place) kubeconfig() string      { return p.file("kubeconfig") }

// url is where the process serves webhooks; nothing else listens there.
func (p *place) url() string {
	return "https://" + net.JoinHostPort(p.host, strconv.Itoa(p.port))
}

// calledAt is the URL on which the API server calls the process's webhooks.
func (p *place) calledAt() string {
	if p.front != nil {
		return p.front.url()
	}
	return p.url()
}

// suit adapts the place to a program that has a fixed certificate folder or port.
func (p *place) suit(definition clusters.System) {
	p.certs, p.port = "certs", p.served.Numbers[0]
	process := definition.Launched()
	if process == nil {
		return
	}
	p.certs = cmp.Or(process.CertDir, p.certs)
	p.port = cmp.Or(process.WebhookPort, p.port)
}

// untaken returns an error if another program listens on the fixed port.
func (p *place) untaken() error {
	if p.port == p.served.Numbers[0] || ports.Free(p.host, p.port) {
		return nil
	}
	return takenError(p.host, p.port)
}

// takenError says that a port which a program cannot choose is in use.
func takenError(host string, port int) error {
	return fmt.Errorf("port %d, on which its program listens (webhookPort), is in use on %s: stop the program "+
		"that uses it; several clusters cannot have it at the same time, add --clusters 1", port, host)
}

// values are the environment variables that describe the place to a process.
func (p *place) values() map[string]string {
	local := func(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
	values := map[string]string{
		"KUBECONFIG": p.kubeconfig(), "CERT_DIR": p.certDir(), "WEBHOOK_HOST": p.host, "WEBHOOK_PORT": strconv.Itoa(p.port),
		"HEALTH_ADDRESS": local(p.own.Numbers[0]), "METRICS_ADDRESS": local(p.own.Numbers[1]),
		"HEALTH_PORT": strconv.Itoa(p.own.Numbers[0]), "METRICS_PORT": strconv.Itoa(p.own.Numbers[1]),
	}
	if p.service != nil {
		values[clusters.ServiceAddress] = p.service.Address()
	}
	return values
}

// reserve never returns nil, so that its result can always be released.
func reserve(host string, n int) (*ports.Reservation, error) {
	held, err := ports.Reserve(host, n)
	if err != nil {
		return &ports.Reservation{}, err
	}
	return held, nil
}

func (p *place) release() {
	if p.front != nil {
		p.front.release()
	}
	p.served.Release()
	p.own.Release()
}

func (p *place) authority() ([]byte, error) {
	ca, err := os.ReadFile(filepath.Join(p.certDir(), "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	return ca, nil
}

// writeKubeconfig writes a client's configuration as a kubeconfig, mode 0600.
func writeKubeconfig(c *rest.Config, path string) error {
	const name = "rehearse"
	config := clientconfig.NewConfig()
	config.Clusters[name] = &clientconfig.Cluster{
		Server: c.Host + c.APIPath, TLSServerName: c.ServerName, InsecureSkipTLSVerify: c.Insecure,
		CertificateAuthority: c.CAFile, CertificateAuthorityData: c.CAData,
	}
	config.AuthInfos[name] = &clientconfig.AuthInfo{
		ClientCertificate: c.CertFile, ClientCertificateData: c.CertData, ClientKey: c.KeyFile, ClientKeyData: c.KeyData,
		Token: c.BearerToken, TokenFile: c.BearerTokenFile, Username: c.Username, Password: c.Password,
		Impersonate: c.Impersonate.UserName, ImpersonateUID: c.Impersonate.UID, ImpersonateGroups: c.Impersonate.Groups,
		ImpersonateUserExtra: c.Impersonate.Extra, AuthProvider: c.AuthProvider, Exec: c.ExecProvider,
	}
	config.Contexts[name] = &clientconfig.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientconfig.FlattenConfig(config); err != nil {
		return fmt.Errorf("embed credentials in the kubeconfig: %w", err)
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
