package systems

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/probes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// Check finds, before anything starts, what is wrong with systems: an unknown simulator or fault, a missing program, a
// file that is missing or contains no suitable object. Its error joins all errors.
func Check(ctx context.Context, systems []clusters.System, simulators Simulators, modules Modules) error {
	var errs []error
	for _, definition := range systems {
		for _, err := range check(ctx, definition, simulators, modules) {
			errs = append(errs, fmt.Errorf("system %s: %w", definition.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Checks are the results of Check, by the JSON of the definition.
type Checks map[string]error

// Check is the function Check for one system. It checks each definition once, since it may have many files, and many
// states have the same one.
func (c Checks) Check(ctx context.Context, system clusters.System, simulators Simulators, modules Modules) error {
	text, err := json.Marshal(system)
	if err != nil {
		return fmt.Errorf("system %s: %w", system.Name, err)
	}
	found, known := c[string(text)]
	if !known {
		found = Check(ctx, []clusters.System{system}, simulators, modules)
		c[string(text)] = found
	}
	return found
}

func check(ctx context.Context, definition clusters.System, simulators Simulators, modules Modules) []error {
	switch definition.Kind() {
	case "simulated":
		return checkSimulated(definition, simulators)
	case "process", "module":
		return checkProcess(definition, modules)
	case "manifests":
		return checkManifests(ctx, definition)
	}
	return []error{errors.New("it is neither simulated nor a process nor a module nor manifests")}
}

func checkSimulated(definition clusters.System, simulators Simulators) []error {
	simulator, ok := simulators[definition.Simulator()]
	if !ok {
		return []error{noSimulator(definition.Simulator(), simulators)}
	}
	var errs []error
	for _, fault := range definition.Simulated.Faults {
		if err := checkFault(fault, simulator); err != nil {
			errs = append(errs, fmt.Errorf("simulator %s %w", definition.Simulator(), err))
		}
	}
	for _, text := range definition.Simulated.Liberties {
		name, seed, seeded := strings.Cut(text, "=")
		_, wrong := strconv.ParseUint(seed, 10, 64)
		switch {
		case !slices.Contains(simulator.Liberties, name):
			errs = append(errs,
				fmt.Errorf("simulator %s has no liberty %q; it has: %s", definition.Simulator(), name,
					strings.Join(simulator.Liberties, ", ")))
		case seeded && wrong != nil:
			errs = append(errs,
				fmt.Errorf("simulator %s: the seed of liberty %s must be a number, not %q", definition.Simulator(), name, seed))
		}
	}
	if variant := definition.Simulated.Variant; variant != "" && !slices.Contains(simulator.Variants, variant) {
		errs = append(errs,
			fmt.Errorf("simulator %s has no variant %q; it has: %s", definition.Simulator(), variant,
				strings.Join(simulator.Variants, ", ")))
	}
	if definition.Simulated.Config != nil && !simulator.Configurable {
		errs = append(errs, fmt.Errorf("simulator %s does not support a configuration", definition.Simulator()))
	}
	return errs
}

func checkFault(text string, simulator Simulator) error {
	name, pattern := clusters.SplitFault(text)
	_, wrong := path.Match(pattern, "")
	switch {
	case !slices.Contains(simulator.Faults, name):
		return fmt.Errorf("has no fault %q; it has: %s", name, strings.Join(simulator.Faults, ", "))
	case name == text:
		return nil
	case pattern == "" || wrong != nil:
		return fmt.Errorf("cannot limit fault %s to namespaces %q: invalid pattern", name, pattern)
	case slices.Contains(simulator.ClusterWide, name):
		return fmt.Errorf("cannot limit fault %s to namespaces %s: it affects the whole cluster", name, pattern)
	}
	return nil
}

// CheckPorts returns an error for each port that a program cannot choose and that is in use at the moment. Such a
// program usually listens on all addresses, so a process that has the port on loopback is in the way.
func CheckPorts(systems []clusters.System) error {
	var errs []error
	for _, definition := range systems {
		p := definition.Launched()
		if p == nil || p.WebhookPort == 0 {
			continue
		}
		if err := places.CheckPort(p.WebhookPort); err != nil {
			errs = append(errs, fmt.Errorf("system %s: %w", definition.Name, err))
		}
	}
	return errors.Join(errs...)
}

// checkProcess reads the files of a process. Its place is not known yet, so texts that need it are not checked. Neither
// are the files of a module that is not in the cache.
func checkProcess(definition clusters.System, modules Modules) []error {
	p := definition.Launched()
	e := versionOnly(definition, cached(definition, modules))
	var errs []error
	var manifests []*unstructured.Unstructured
	switch {
	case definition.Module != nil:
		if program, _ := definition.Program(); program.Check() != nil {
			return append(errs, program.Check())
		}
	case len(p.Command) == 0:
		return append(errs, errors.New("it has no command"))
	default:
		if program, known := e(p.Command[0]); known {
			if _, err := exec.LookPath(program); err != nil {
				errs = append(errs, fmt.Errorf("find its program: %w", err))
			}
		}
	}
	for _, part := range []struct {
		files  []string
		wanted func(*unstructured.Unstructured) bool
	}{
		{p.CRDs, func(o *unstructured.Unstructured) bool { return o.GroupVersionKind().GroupKind() == objects.CRDKind }},
		{p.Webhooks, webhooks.IsConfiguration},
	} {
		for _, file := range part.files {
			if name, known := e(file); known {
				found, err := documents.OfKinds([]string{name}, part.wanted)
				manifests = append(manifests, found...)
				if err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	if err := probes.Check(definition, manifests); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// checkManifests reads the manifests that are files.
func checkManifests(ctx context.Context, definition clusters.System) []error {
	if len(definition.Manifests) == 0 {
		return []error{errors.New("it has no manifests")}
	}
	var errs []error
	var manifests []*unstructured.Unstructured
	e := versionOnly(definition, clusters.BuiltModule{})
	for _, manifest := range definition.Manifests {
		text, known := e(manifest)
		if !known {
			errs = append(errs,
				fmt.Errorf("manifest %s: only $(VERSION) is allowed here, and only if the system has a version", manifest))
			continue
		}
		name, _, err := documents.SplitChecksum(text)
		if err == nil && !clusters.IsAddress(name) {
			var found []*unstructured.Unstructured
			found, err = documents.Fetch(ctx, text)
			manifests = append(manifests, found...)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if err := probes.Check(definition, manifests); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// versionOnly expands the version and the module's folder in a text; false if it needs other values.
func versionOnly(definition clusters.System, built clusters.BuiltModule) func(string) (string, bool) {
	values := map[string]string{"VERSION": definition.Version, clusters.ModuleDir: built.Dir}
	return func(text string) (string, bool) {
		expanded, err := clusters.ExpandSystem(text, func(name string) (string, bool) {
			return values[name], values[name] != ""
		})
		return expanded, err == nil
	}
}
