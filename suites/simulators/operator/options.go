package operator

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// Options are where a simulated system runs and how it behaves.
type Options struct {
	// RESTConfig of the API server, as an administrator.
	RESTConfig *rest.Config
	// Host and Port of webhooks and /readyz, with TLS. The API server uses this host name.
	Host string
	Port int
	// CertDir has tls.crt and tls.key, the serving certificate for Host, and ca.crt, which signed it. A simulator
	// stores its data there, too.
	CertDir string
	// Faults are the names of the requested bugs.
	Faults []string
	// Liberties are the names of the requested liberties, NAME or NAME=SEED.
	Liberties []string
	// Variant of the specification. Default: the simulator's own choice.
	Variant string
	// Config of the system, verbatim: YAML, nil if there is none.
	Config []byte
	// Logger of the simulator.
	Logger logr.Logger
}
