package operator

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// Options say where a simulated system runs and how it behaves.
type Options struct {
	// RESTConfig of the API server, as an administrator.
	RESTConfig *rest.Config
	// Host and Port on which webhooks and /readyz are served, with TLS. The API server reaches them under that name.
	Host string
	Port int
	// CertDir holds tls.crt and tls.key, the serving certificate for Host, and ca.crt, which signed it. What a simulator
	// has to keep is there, too.
	CertDir string
	// Faults are the names of the bugs to have.
	Faults []string
	// Liberties are the names of the ways to be different, NAME or NAME=SEED.
	Liberties []string
	// Variant of the specification; the simulator's own choice unless given.
	Variant string
	// Config of the system, as it takes it: YAML, nil where there is none.
	Config []byte
	// Logger gets what the simulator has to say.
	Logger logr.Logger
}
