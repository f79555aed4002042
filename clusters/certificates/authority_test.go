package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a, err := NewAuthority(dir, now)
	golden.Must(t, err)
	golden.Must(t, a.Serving("server", "127.0.0.1", "localhost"))
	golden.Must(t, a.Client("admin", "me", "system:masters"))
	golden.Must(t, a.KeyPair("signer"))
	roots := x509.NewCertPool()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil || !roots.AppendCertsFromPEM(ca) {
		t.Fatalf("ca.crt: %v", err)
	}
	check := func(name string, use x509.ExtKeyUsage, host string) *x509.Certificate {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
		golden.Must(t, err)
		options := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{use}, CurrentTime: now, DNSName: host}
		if _, err := pair.Leaf.Verify(options); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return pair.Leaf
	}
	check("server", x509.ExtKeyUsageServerAuth, "localhost")
	check("server", x509.ExtKeyUsageServerAuth, "127.0.0.1")
	if leaf := check("admin", x509.ExtKeyUsageClientAuth, ""); leaf.Subject.CommonName != "me" ||
		leaf.Subject.Organization[0] != "system:masters" {
		t.Errorf("client certificate is for %s", leaf.Subject)
	}
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, want 0600", entry.Name(), info.Mode())
		}
	}
	if len(entries) != 8 {
		t.Errorf("%d files, want ca, server, admin, signer with two each", len(entries))
	}
}

// An expired certificate is rejected only because it is expired: its authority and its host are right.
func TestExpired(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	a, err := NewAuthority(dir, now)
	golden.Must(t, err)
	golden.Must(t, a.ServingUntil(now.Add(-time.Hour), "expired", "127.0.0.1"))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "expired.crt"), filepath.Join(dir, "expired.key"))
	golden.Must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	verify := func(at time.Time) error {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1", CurrentTime: at})
		return err
	}
	var invalid x509.CertificateInvalidError
	if err := verify(now); !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
		t.Errorf("now: %v, want an expired certificate", err)
	}
}
