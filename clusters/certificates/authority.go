// Package certificates creates the keys and certificates of a local cluster or a system under test: an authority, a
// serving certificate and client certificates.
package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity of every certificate: longer than any test cluster is kept.
const validity = 10 * 365 * 24 * time.Hour

// Authority signs a cluster's certificates. Its files are ca.crt and ca.key in its folder.
type Authority struct {
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	now  time.Time
}

// NewAuthority makes an authority and writes it into a folder (mode 0700, files 0600). now is the time from which its
// certificates are valid.
func NewAuthority(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for certificates: %w", err)
	}
	a := &Authority{dir: dir, now: now}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	template := a.template("")
	// Each authority has its own name, so that a verifier rejects an unknown issuer without checking a signature.
	template.Subject.CommonName = fmt.Sprintf("rehearse-ca-%x", template.SerialNumber)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority's certificate: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	return a, a.write("ca", der, a.key)
}

// OpenAuthority reads an authority that NewAuthority wrote. now is the time from which the certificates that it signs
// are valid.
func OpenAuthority(dir string, now time.Time) (*Authority, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("read the authority in %s: %w", dir, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read the authority in %s: its key is a %T, which is not of ours", dir, pair.PrivateKey)
	}
	return &Authority{dir: dir, key: key, cert: pair.Leaf, now: now}, nil
}

// Serving writes name.crt and name.key, a serving certificate for these hosts (names or addresses).
func (a *Authority) Serving(name string, hosts ...string) error {
	return a.ServingUntil(a.now.Add(validity), name, hosts...)
}

// ServingUntil writes a serving certificate that is valid until a time, which may be in the past.
func (a *Authority) ServingUntil(until time.Time, name string, hosts ...string) error {
	template := a.template(name)
	template.NotAfter = until
	if !template.NotBefore.Before(until) {
		template.NotBefore = until.Add(-24 * time.Hour)
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.issue(name, template)
}

// Client writes name.crt and name.key, a client certificate for a user in these groups.
func (a *Authority) Client(name, user string, groups ...string) error {
	return a.issue(name, a.client(user, groups))
}

// ClientPEM returns the certificate and the key of a client certificate for a user in these groups, and writes nothing.
func (a *Authority) ClientPEM(user string, groups ...string) (cert, key []byte, err error) {
	der, signed, err := a.sign(user, a.client(user, groups))
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(signed)
	if err != nil {
		return nil, nil, fmt.Errorf("encode key %s: %w", user, err)
	}
	return pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: der,
	}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), nil
}

func (a *Authority) client(user string, groups []string) *x509.Certificate {
	template := a.template(user)
	template.Subject.Organization = groups
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return template
}

// KeyPair writes name.key and name.pub: the key that signs service account tokens.
func (a *Authority) KeyPair(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make key %s: %w", name, err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode key %s: %w", name, err)
	}
	if err := a.writePEM(name+".pub", "PUBLIC KEY", public); err != nil {
		return err
	}
	return a.writeKey(name, key)
}

func (a *Authority) issue(name string, template *x509.Certificate) error {
	der, key, err := a.sign(name, template)
	if err != nil {
		return err
	}
	return a.write(name, der, key)
}

func (a *Authority) sign(name string, template *x509.Certificate) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key %s: %w", name, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign certificate %s: %w", name, err)
	}
	return der, key, nil
}

func (a *Authority) template(commonName string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    a.now.Add(-time.Minute),
		NotAfter:     a.now.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func (a *Authority) write(name string, der []byte, key *ecdsa.PrivateKey) error {
	if err := a.writePEM(name+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return a.writeKey(name, key)
}

func (a *Authority) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key %s: %w", name, err)
	}
	return a.writePEM(name+".key", "EC PRIVATE KEY", der)
}

func (a *Authority) writePEM(file, kind string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(filepath.Join(a.dir, file), data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
