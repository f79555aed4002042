package explorations

import (
	"fmt"
	"os"
	"slices"

	"sigs.k8s.io/yaml"
)

// Known is a file of known findings.
type Known struct {
	// Known lists them.
	Known []KnownFinding `json:"known"`
}

// KnownFinding is one of them.
type KnownFinding struct {
	// ID of the finding in a report.
	ID string `json:"id"`
	// Reason why it is not new, and a link to where it is handled.
	Reason string `json:"reason"`
	Link   string `json:"link,omitempty"`
	// Kinds on which it is known. On another kind, it is new. Default: all.
	Kinds []string `json:"kinds,omitempty"`
}

// ReadKnown reads a file of known findings.
func ReadKnown(file string) (*Known, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the known findings: %w", err)
	}
	var k Known
	if err := yaml.UnmarshalStrict(text, &k); err != nil {
		return nil, fmt.Errorf("read the known findings %s: %w", file, err)
	}
	for i, one := range k.Known {
		if one.ID == "" || one.Reason == "" {
			return nil, fmt.Errorf("read the known findings %s: entry %d needs an id and a reason", file, i+1)
		}
	}
	return &k, nil
}

// Mark marks the known findings of a report.
func (k *Known) Mark(r *Report) {
	if k == nil {
		return
	}
	for _, f := range r.Findings {
		for _, one := range k.Known {
			if one.ID == f.ID && one.covers(f.Kinds) {
				f.Known, f.Link = one.Reason, one.Link
			}
		}
	}
}

// covers reports whether the finding is known on all these kinds.
func (k KnownFinding) covers(kinds []string) bool {
	return len(k.Kinds) == 0 || !slices.ContainsFunc(kinds, func(kind string) bool {
		return !slices.Contains(k.Kinds, kind)
	})
}

// knownOf returns a file that lists all findings of a report as known.
func knownOf(r *Report) ([]byte, error) {
	k := Known{Known: []KnownFinding{}}
	for _, f := range r.Findings {
		one := KnownFinding{ID: f.ID, Reason: f.Known, Link: f.Link, Kinds: f.Kinds}
		if one.Reason == "" {
			one.Reason = fmt.Sprintf("%s of %s: %s", f.Sort, f.Hop(), f.Title())
		}
		k.Known = append(k.Known, one)
	}
	text, err := yaml.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("write the known findings: %w", err)
	}
	return text, nil
}
