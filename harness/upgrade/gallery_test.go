package upgrade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// An upgrade finds real regressions of Kubernetes (scenarios/regressions) with manifests alone, and links their issues.
func TestUpgradeFindsKnownRegressions(t *testing.T) {
	off := false
	on := "true"
	for _, test := range []struct {
		name  string
		from  clusters.State
		to    clusters.Change
		whole bool
		files []string
		// want is severity, checks, object, sentence and issue of each finding.
		want []string
		// note is a part of a note that the report must have.
		note string
	}{
		{
			name: "G1: every StatefulSet's pods restart", from: clusters.State{Version: "1.33.13"},
			to:    clusters.Change{Version: "1.34.0"},
			files: []string{"../../examples/upgrade/shop.yaml"}, // as in the README
			want: []string{"breaks: moved StatefulSet default/shop: every StatefulSet's pods restart without any " +
				"write: 134773"},
		},
		{
			name: "G1, by the gate", from: clusters.State{Version: "1.33.13"},
			to: clusters.Change{
				Version:      "1.34.4",
				FeatureGates: map[string]*bool{"StatefulSetSemanticRevisionComparison": &off},
			},
			files: []string{"testdata/red/statefulset.yaml"},
			want: []string{"breaks: moved StatefulSet default/web: every StatefulSet's pods restart without any write: " +
				"134773"},
		},
		{
			name: "G1 is fixed", from: clusters.State{Version: "1.33.13"}, to: clusters.Change{Version: "1.34.4"},
			files: []string{"testdata/red/statefulset.yaml"},
		},
		{
			name: "G10 and G17: what the next version cannot read, or edit", whole: true,
			from: clusters.State{
				Version:       "1.34",
				FeatureGates:  map[string]bool{"StorageVersionMigrator": true, "DRAPartitionableDevices": true},
				RuntimeConfig: map[string]string{"storagemigration.k8s.io/v1alpha1": "true"},
			},
			to: clusters.Change{
				Version:       "1.35",
				RuntimeConfig: map[string]*string{"storagemigration.k8s.io/v1alpha1": nil, "storagemigration.k8s.io/v1beta1": &on},
			},
			files: []string{"testdata/red/migration.yaml", "testdata/red/slices.yaml"},
			want: []string{
				"breaks: read StorageVersionMigration configmaps: it cannot be read: ",
				"breaks: update+label+apply+create ResourceSlice gpus: a write of it that changes nothing is rejected: 134189",
			},
			// It cannot be updated, so the garbage collector cannot finish its deletion.
			note: "(finalizers: foregroundDeletion); it is no longer judged",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			needs(t, test.to.Version)
			found := travel(t, upgrade.Wanted{From: test.from, To: test.to, NoRollback: !test.whole}, test.files...)
			var got []string
			for _, f := range found.Findings {
				if f.Severity == upgrades.Breaks {
					checks := strings.Join(append([]string{f.Check}, f.Checks...), "+")
					got = append(got, fmt.Sprintf("%s: %s %s: %s: %s", f.Severity, checks, f.Objects[0].Name, f.What,
						f.Link[strings.LastIndex(f.Link, "/")+1:]))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, test.note) {
				t.Errorf("got the notes\n%s\nwant one with %q", notes, test.note)
			}
		})
	}
}

// needs skips a test that needs a patch version outside the cache, because building it takes minutes.
func needs(t *testing.T, version string) {
	t.Helper()
	clustertest.Local(t) // skips the test if clusters must not be used
	store, err := releases.New(releases.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := clusters.ParseVersion(version); err == nil && v.Exact() && !store.Cached(version) {
		t.Skipf("NOT RUN: it needs Kubernetes %s; rehearse fetch %s gets it", version, version)
	}
}
