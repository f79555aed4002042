package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// PathReady is where an operator reports that it is ready.
const PathReady = "/readyz"

// Server serves webhooks with the certificate of a folder. It does not use HTTP/2, which needs a second to close a
// connection to the API server. The certificate does not change while the server runs, so it is read once:
// controller-runtime would watch its files, and a user may have 128 such watches by default (inotify).
func Server(host string, port int, certDir string) webhook.Server {
	certificate := sync.OnceValues(func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(filepath.Join(certDir, "tls.crt"), filepath.Join(certDir, "tls.key"))
		return &pair, err
	})
	return webhook.NewServer(webhook.Options{
		Host: host, Port: port,
		TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.NextProtos = []string{"http/1.1"}
			c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() }
		}},
	})
}

// ServeReadiness makes a manager's webhook server answer 200 at PathReady once the caches of these kinds are filled.
func ServeReadiness(ctx context.Context, m manager.Manager, kinds ...client.Object) error {
	for _, kind := range kinds {
		if _, err := m.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	var ready atomic.Bool
	m.GetWebhookServer().Register(PathReady, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(w, "the caches are being filled", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}))
	// A manager starts what is added like this after the caches are filled.
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		ready.Store(true)
		<-ctx.Done()
		return nil
	}))
}
