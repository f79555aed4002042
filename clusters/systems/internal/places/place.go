// Package places gives the program of a system its folder, its ports and its certificates, and what stands before it.
package places

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientconfig "k8s.io/client-go/tools/clientcmd/api"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// loopback is the address on which only this machine can connect.
const loopback = "127.0.0.1"

// Place has the folder and ports of a system's process. It stays the same through all changes of the system.
type Place struct {
	// Dir is the folder.
	Dir  string
	host string
	// certs is the folder of the certificates in dir, port the port of the webhooks: both from the definition, or by
	// default certs and a free port.
	certs string
	port  int
	// served are the ports on host, for webhooks; own are those on loopback, for health and metrics.
	served, own *ports.Reservation
	// Front is called instead of the program, if set.
	Front *Front
	// Service in front of the program, if its definition has one.
	Service *Service
	// hasWebhooks: the definition has webhooks. They are called through the service, if there is one.
	hasWebhooks bool
	// written are the files that were written for the program.
	written []string
}

// Logs is the folder of the program's logs.
func (p *Place) Logs() string { return p.File(logs) }

// File returns the path of a file in the folder.
func (p *Place) File(name string) string { return filepath.Join(p.Dir, name) }

func (p *Place) certDir() string    { return p.File(p.certs) }
func (p *Place) kubeconfig() string { return p.File("kubeconfig") }

// URL is where the process serves webhooks; nothing else listens there.
func (p *Place) URL() string {
	return "https://" + p.Address()
}

// Address is where the process serves webhooks.
func (p *Place) Address() string { return net.JoinHostPort(p.host, strconv.Itoa(p.port)) }

// CalledAt is the URL on which the API server calls the webhooks of the definition.
func (p *Place) CalledAt() string {
	switch {
	case p.shared():
		return p.Service.URL()
	case p.Front != nil:
		return p.Front.URL()
	}
	return p.URL()
}

// Calls is how calls of the definition's webhooks are answered.
func (p *Place) Calls() clusters.WebhookCalls {
	switch {
	case p.shared():
		return p.Service.Calls()
	case p.Front != nil:
		return p.Front.Calls()
	}
	return clusters.WebhookCalls{}
}

// Renew makes what stands in front of the program use its new certificates.
func (p *Place) Renew(calls clusters.WebhookCalls, now time.Time) error {
	switch {
	case p.Service != nil && p.Service.is.Certificate != "":
		return p.Service.become(p.Service.is, p, now)
	case p.Service == nil && p.Front != nil:
		return p.Front.Become(calls, p, now)
	}
	return nil
}

// shared reports whether any replica of the service may answer a call of the definition's webhooks.
func (p *Place) shared() bool { return p.hasWebhooks && p.Service != nil }

// Suit adapts the place to a program that has a fixed certificate folder or port.
func (p *Place) Suit(definition clusters.System) {
	p.certs, p.port, p.hasWebhooks = "certs", p.served.Numbers[0], false
	process := definition.Launched()
	if process == nil {
		return
	}
	p.certs = cmp.Or(process.CertDir, p.certs)
	p.port = cmp.Or(process.WebhookPort, p.port)
	p.hasWebhooks = len(process.Webhooks) > 0
}

// Untaken returns an error if another program listens on the fixed port.
func (p *Place) Untaken() error {
	if p.port == p.served.Numbers[0] {
		return nil
	}
	return untaken(p.host, p.port)
}

// CheckPort returns an error if a port which a program cannot choose is in use on loopback.
func CheckPort(port int) error { return untaken(loopback, port) }

func untaken(host string, port int) error {
	if ports.Free(host, port) {
		return nil
	}
	return fmt.Errorf("port %d, on which its program listens (webhookPort), is in use on %s: stop the program "+
		"that uses it; several clusters cannot have it at the same time, add --clusters 1", port, host)
}

// Values are the environment variables that describe the place to a process.
func (p *Place) Values() map[string]string {
	local := func(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
	values := map[string]string{
		"KUBECONFIG": p.kubeconfig(), "CERT_DIR": p.certDir(), "WEBHOOK_HOST": p.host, "WEBHOOK_PORT": strconv.Itoa(p.port),
		"HEALTH_ADDRESS": local(p.own.Numbers[0]), "METRICS_ADDRESS": local(p.own.Numbers[1]),
		"HEALTH_PORT": strconv.Itoa(p.own.Numbers[0]), "METRICS_PORT": strconv.Itoa(p.own.Numbers[1]),
	}
	if p.Service != nil {
		values[clusters.ServiceAddress] = p.Service.Address()
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

// Release ends the front, and frees the ports.
func (p *Place) Release() {
	if p.Front != nil {
		p.Front.release()
	}
	p.served.Release()
	p.own.Release()
}

// Authority is the certificate of the authority that signed the certificates.
func (p *Place) Authority() ([]byte, error) {
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
