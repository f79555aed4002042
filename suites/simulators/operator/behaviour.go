package operator

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// Choice contains the differences that a simulator supports.
type Choice struct {
	// Simulator is its name.
	Simulator string
	// Variants are the variants of the specification. The first is the default.
	Variants  []string
	Faults    []fault.Fault
	Liberties []liberty.Liberty
}

// Behaviour contains the differences that a run of a simulator shows.
type Behaviour struct {
	Variant string
	Faults  fault.Set
	// Liberties are differences that the specification allows.
	Liberties liberty.Set
}

// Choose returns the behaviour with those differences. The variant "" selects the default.
func (c Choice) Choose(variant string, faults, liberties []string) (Behaviour, error) {
	b := Behaviour{Variant: variant}
	if variant == "" {
		b.Variant = c.Variants[0]
	}
	if !slices.Contains(c.Variants, b.Variant) {
		return b, fmt.Errorf("unknown variant %q of %s: want one of %s", variant, c.Simulator,
			strings.Join(c.Variants, ", "))
	}
	var err error
	if b.Faults, err = fault.NewSet(faults, c.Faults); err != nil {
		return b, fmt.Errorf("start the simulator %s: %w", c.Simulator, err)
	}
	if b.Liberties, err = liberty.NewSet(liberties, c.Liberties); err != nil {
		return b, fmt.Errorf("start the simulator %s: %w", c.Simulator, err)
	}
	return b, nil
}

// In returns the behaviour for the objects of a namespace.
func (b Behaviour) In(namespace string) Behaviour {
	b.Faults = b.Faults.In(namespace)
	return b
}

// Has reports whether a fault was requested.
func (b Behaviour) Has(name string) bool { return b.Faults.Has(name) }

// workers is how many objects of a kind are reconciled at the same time.
const workers = 8

// Manager returns the options of a manager of the simulator. The manager caches the objects that the selector ours
// matches, and all objects of the kind of own. twice reports which objects may be created twice.
func (b Behaviour) Manager(o Options, scheme *runtime.Scheme, ours labels.Selector, own client.Object,
	twice func(client.Object) bool,
) manager.Options {
	anew := true // a program may run several managers, also at the same time
	return manager.Options{
		Scheme: scheme,
		Logger: o.Logger,
		Cache: cache.Options{
			DefaultLabelSelector: ours,
			ByObject:             map[client.Object]cache.ByObject{own: {Label: labels.Everything()}},
		},
		Controller: config.Controller{
			SkipNameValidation:      &anew,
			MaxConcurrentReconciles: b.Liberties.Workers(workers),
		},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		WebhookServer:          Server(o.Host, o.Port, o.CertDir),
		NewClient:              b.Liberties.Client(twice),
	}
}
