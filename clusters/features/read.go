package features

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Paths of the feature gates in the modules.
const (
	listPath     = "test/compatibility_lifecycle/reference/versioned_feature_list.yaml"
	gatesPath    = "pkg/features/kube_features.go"
	clientGoPath = "features/known_features.go"
)

// Read reads the list of a release from the modules k8s.io/kubernetes and k8s.io/client-go of that version. It
// returns the whole list or an error.
//
// The published list names the Go constants, some of which differ from the gates' own names. It lacks the gates of
// client-go, which every component supports. Read takes both from the sources.
func Read(v clusters.Version, kubernetes, clientGo fs.FS) (*List, error) {
	gates, err := readPublished(kubernetes)
	if err != nil {
		return nil, err
	}
	source, err := parseSource(kubernetes, gatesPath)
	if err != nil {
		return nil, err
	}
	for constant, name := range source.names {
		if gate, listed := gates[constant]; listed && constant != name {
			delete(gates, constant)
			gates[name] = gate
		}
	}
	client, err := parseSource(clientGo, clientGoPath)
	if err != nil {
		return nil, err
	}
	clientGates, err := client.gates()
	if err != nil {
		return nil, err
	}
	maps.Copy(gates, clientGates)
	needs, err := source.needs()
	if err != nil {
		return nil, err
	}
	if len(needs) == 0 && minorOf(v).Compare(enforcesNeeds) >= 0 {
		return nil, fmt.Errorf("%s has no dependencies between feature gates, as Kubernetes has since %s", gatesPath,
			enforcesNeeds)
	}
	for name, needed := range needs {
		gate, known := gates[name]
		if !known {
			return nil, fmt.Errorf("%s has dependencies of %s, which is not in the list of feature gates", gatesPath, name)
		}
		for _, need := range needed {
			if _, known := gates[need]; !known {
				return nil, fmt.Errorf("%s has %s depend on %s, which is not in the list of feature gates", gatesPath, name, need)
			}
		}
		gate.Needs = needed
		gates[name] = gate
	}
	return &List{Version: v.String(), Gates: gates}, nil
}

// readPublished reads the list that every Kubernetes release publishes.
func readPublished(kubernetes fs.FS) (map[string]Gate, error) {
	data, err := fs.ReadFile(kubernetes, listPath)
	if err != nil {
		return nil, err
	}
	var published []struct {
		Name           string `json:"name"`
		VersionedSpecs []struct {
			Default       bool   `json:"default"`
			LockToDefault bool   `json:"lockToDefault"`
			PreRelease    string `json:"preRelease"`
			Version       string `json:"version"`
			MinCompatible string `json:"minCompatibilityVersion"`
		} `json:"versionedSpecs"`
	}
	if err := yaml.Unmarshal(data, &published); err != nil {
		return nil, fmt.Errorf("%s: %w", listPath, err)
	}
	gates := map[string]Gate{}
	for _, p := range published {
		var specs []Spec
		for _, s := range p.VersionedSpecs {
			spec, err := newSpec(Spec{
				Since: s.Version, Stage: Stage(s.PreRelease), Default: s.Default, Locked: s.LockToDefault,
				MinCompatibility: s.MinCompatible,
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", listPath, p.Name, err)
			}
			specs = append(specs, spec)
		}
		if p.Name == "" || len(specs) == 0 {
			return nil, fmt.Errorf("%s: feature gate %q has no specs", listPath, p.Name)
		}
		if specs, err = sorted(specs); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", listPath, p.Name, err)
		}
		gates[p.Name] = Gate{Specs: specs}
	}
	if len(gates) == 0 {
		return nil, fmt.Errorf("%s is empty", listPath)
	}
	return gates, nil
}

// newSpec checks a spec.
func newSpec(s Spec) (Spec, error) {
	for _, version := range []string{s.Since, s.MinCompatibility} {
		if _, err := clusters.ParseVersion(version); err != nil && version != "" {
			return s, err
		}
	}
	switch {
	case s.Since == "":
		return s, errors.New("a spec has no version")
	case !slices.Contains([]Stage{Alpha, Beta, GA, Deprecated}, s.Stage):
		return s, fmt.Errorf("no known stage: %s", s.Stage)
	}
	return s, nil
}
