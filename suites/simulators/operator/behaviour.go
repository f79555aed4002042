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

// Choice is the possible differences of a simulator.
type Choice struct {
	// Simulator by its name.
	Simulator string
	// Variants, the first of which is the default.
	Variants  []string
	Faults    []fault.Fault
	Liberties []liberty.Liberty
}

// Behaviour is the requested differences of a run of a simulator.
type Behaviour struct {
	Variant string
	Faults  fault.Set
	// Liberties are differences that the specification allows.
	Liberties liberty.Set
}

// Choose returns the behaviour with those differences. "" is the default variant.
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

// In is the behaviour for the objects of a namespace.
func (b Behaviour) In(namespace string) Behaviour {
	b.Faults = b.Faults.In(namespace)
	return b
}

// Has reports whether a fault was requested.
func (b Behaviour) Has(name string) bool { return b.Faults.Has(name) }

// workers is how many objects of a kind are reconciled at once.
const workers = 8

// Manager are the options of a manager of the simulator. It caches objects with the labels, and all objects of its own
// kind; twice says which objects may be created twice.
func (b Behaviour) Manager(o Options, scheme *runtime.Scheme, ours labels.Selector, own client.Object,
	twice func(client.Object) bool,
) manager.Options {
	anew := true // one program may run several managers, one after the other or at once
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
