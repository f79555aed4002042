package initialize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/gates"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/starters"
)

// look looks up the facts for a scenario.
type look struct {
	gates.Look
	command *cobra.Command
}

func newLook(command *cobra.Command) (*look, error) {
	store, err := cli.CachedReleases(cli.ProgressTo(command.ErrOrStderr()))
	if err != nil {
		return nil, err
	}
	return &look{gates.Look{Store: store}, command}, nil
}

// gate finds out where a gate can be off and on: in the given version, in the target version, or otherwise in the
// newest version whose programs are in the cache.
func (l *look) gate(name, version, to string) (*starters.Gate, error) {
	l.Names = []string{name}
	if version != "" && to != "" {
		return nil, errors.New("give either --version, or --from and --to")
	}
	known := l.Store.CachedLists()
	if version == "" {
		version = to
	}
	var lists []*features.List
	if version != "" {
		list, err := l.List(l.command, version)
		if err != nil {
			return nil, err
		}
		lists = []*features.List{list}
		if !slices.ContainsFunc(known, func(k *features.List) bool { return k.Version == list.Version }) {
			known = append(known, list)
			slices.SortFunc(known, func(a, b *features.List) int { return a.Of().Compare(b.Of()) })
		}
	} else if lists = l.atHand(known); len(lists) == 0 {
		return nil, errors.New("no version of Kubernetes is in the cache; rehearse fetch 1.36 gets one, or name one " +
			"with --version")
	}
	if err := l.Known(known); err != nil {
		return nil, err
	}
	return starters.NewGate(name, lists, known)
}

// atHand returns the lists of versions whose programs are in the cache. If there are none, it returns all lists.
func (l *look) atHand(known []*features.List) []*features.List {
	cached := slices.DeleteFunc(slices.Clone(known), func(list *features.List) bool {
		return !l.Store.Cached(list.Version)
	})
	if len(cached) == 0 {
		return known
	}
	return cached
}

// versions returns the versions of the scenario's path. If only one is given, the other is next to it. If none is
// given, a gate stays at one version, and anything else uses the two newest in the cache.
func (l *look) versions(from, to string, gate, system bool) (string, string, error) {
	if from == "" && to == "" {
		if gate {
			return "", "", nil
		}
		return l.newest(system)
	}
	for _, given := range []string{from, to} {
		if _, err := clusters.ParseVersion(given); err != nil && given != "" {
			return "", "", err
		}
	}
	if from == "" {
		from = beside(to, -1)
	}
	if to == "" {
		to = beside(from, 1)
	}
	return from, to, nil
}

// beside returns the minor version before or after another.
func beside(version string, step int) string {
	v, _ := clusters.ParseVersion(version) // it was already parsed
	v.Minor += step
	return v.MinorString()
}

// newest returns the two newest successive minor versions whose programs are in the cache. If there are no two, one
// is enough for a system.
func (l *look) newest(one bool) (from, to string, err error) {
	var at []clusters.Version
	for _, list := range l.atHand(l.Store.CachedLists()) {
		if v := list.Of(); len(at) == 0 || at[len(at)-1].MinorString() != v.MinorString() {
			at = append(at, v)
		}
	}
	for i := len(at) - 1; i > 0; i-- {
		if at[i].Minor == at[i-1].Minor+1 {
			return at[i-1].MinorString(), at[i].MinorString(), nil
		}
	}
	if len(at) > 0 && one {
		return at[len(at)-1].MinorString(), "", nil
	}
	return "", "", errors.New("no two versions of Kubernetes in a row are in the cache; name them with --from and --to, " +
		"or get them first: rehearse fetch 1.35 1.36")
}

// flips returns the gates that flip between two versions, according to the cache.
func (l *look) flips(from, to string) []features.Flip {
	if to == "" {
		return nil
	}
	path := []clusters.State{{Version: from}, {Version: to}}
	return features.Along(l.command.Context(), releases.InCache(l.Store), path...)[0].Flips
}

// GateOf returns the gate that this program's own scenarios of an enhancement set.
func GateOf(kep string) (string, error) {
	names, err := scenarios.Libraries()
	if err != nil {
		return "", err
	}
	gates := map[string]bool{}
	for _, name := range names {
		set, err := scenarios.Library(name)
		if err != nil {
			return "", err
		}
		for _, s := range set.Scenarios {
			if s.Metadata.Labels["kep"] != kep {
				continue
			}
			for gate := range s.Spec.Cluster.FeatureGates {
				gates[gate] = true
			}
		}
	}
	switch found := clusters.SortedKeys(gates); len(found) {
	case 0:
		return "",
			fmt.Errorf("--kep %s: Kubernetes' feature lists do not contain enhancements, and Rehearse has no "+
				"scenario of this one; name its feature gate with --gate", kep)
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("--kep %s: the scenarios of it set several gates; name one with --gate: %s", kep,
			strings.Join(found, ", "))
	}
}

// underTest returns the system that the flag names, or nil.
func (f *flags) underTest() (*starters.System, error) {
	if f.system == "" {
		return nil, nil //nolint:nilnil // none is no mistake
	}
	if !strings.Contains(f.system, "=") {
		system := &starters.System{Name: f.system}
		if f.simulator(f.system) {
			system.Simulator = f.system
		}
		return system, nil
	}
	flag, ok := cli.ParseSystem(f.system)
	if !ok || !flag.Defined() || flag.OfVariant {
		return nil, fmt.Errorf("--system %s: want NAME, %s", f.system, cli.Definitions)
	}
	if _, err := flag.Definition(); err != nil {
		return nil, fmt.Errorf("--system %s: %w", f.system, err)
	}
	system, file := &starters.System{Name: flag.Name}, flag.Value
	if f.output != "" && f.output != "-" && filepath.Dir(f.output) != filepath.Dir(file) {
		return nil, fmt.Errorf("--output %s: the scenario must be beside %s, because its file names are "+
			"relative to that folder", f.output, file)
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(data, &system.Definition)
	}
	if err != nil {
		return nil, fmt.Errorf("--system %s: %w", f.system, err)
	}
	return system, nil
}
