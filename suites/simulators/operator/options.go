package operator

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// Options describe where a simulated system runs and how it behaves.
type Options struct {
	// RESTConfig of the API server, with the rights of an administrator.
	RESTConfig *rest.Config
	// Host and Port are where webhooks and /readyz are served, with TLS. The API server uses this host name.
	Host string
	Port int
	// CertDir is a folder with tls.crt and tls.key, the serving certificate for Host, and ca.crt, the authority that
	// signed it. A simulator stores its data there, too.
	CertDir string
	// Faults are the names of the requested bugs.
	Faults []string
	// Liberties are the requested liberties, each as NAME or NAME=SEED.
	Liberties []string
	// Taken, if set, gets the name of each liberty when that takes effect the first time.
	Taken func(liberty string)
	// Variant of the specification. Default: the simulator chooses.
	Variant string
	// Config is the configuration of the system, unchanged. It is YAML; nil if there is none.
	Config []byte
	// Logger of the simulator.
	Logger logr.Logger
}
