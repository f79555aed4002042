package features_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestVersionsIn(t *testing.T) {
	for _, test := range []struct {
		name, release, emulated, minCompatibility string
		want                                      string // the emulated version and the oldest compatible one
	}{
		{name: "no flags", release: "1.37.2", want: "1.37 1.36"},
		{name: "emulated", release: "1.37.2", emulated: "1.36", want: "1.36 1.35"},
		{name: "emulated as far back as possible", release: "1.37.2", emulated: "1.34", want: "1.34 1.34"},
		{name: "the oldest that any release emulates", release: "1.33.1", emulated: "1.31", want: "1.31 1.31"},
		{name: "compatibility", release: "1.37.2", minCompatibility: "1.37", want: "1.37 1.37"},
		{name: "both", release: "1.37.2", emulated: "1.36", minCompatibility: "1.34", want: "1.36 1.34"},
		{name: "named", release: "1.37.2", minCompatibility: "wardle=1.2,kube=1.37", want: "1.37 1.37"},
		{name: "another component's", release: "1.37.2", emulated: "wardle=1.2", want: "1.37 1.36"},
		{name: "no version", release: "1.37.2", emulated: "soon", want: "flag emulated-version: version \"soon\""},
		{name: "no version either", release: "1.37.2", minCompatibility: "kube=x", want: "flag min-compatibility-version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			flags := map[string]string{}
			if test.emulated != "" {
				flags["emulated-version"] = test.emulated
			}
			if test.minCompatibility != "" {
				flags["min-compatibility-version"] = test.minCompatibility
			}
			versions, err := features.VersionsIn(version(t, test.release), flags)
			got := versions.Emulated.String() + " " + versions.MinCompatibility.String()
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != test.want || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A gate with two specs of one version has the default of the spec that the compatibility version allows. Since 1.37,
// DRAFractionalCapacityRange is such a gate in the published list.
func TestDefaultAtACompatibilityVersion(t *testing.T) {
	list, err := features.Read(version(t, "1.36.3"), os.DirFS("testdata/kubernetes"), os.DirFS("testdata/client-go"))
	golden.Must(t, err)
	for flag, want := range map[string]bool{"": false, "1.35": false, "1.36": true, "kube=1.36": true} {
		versions, err := features.VersionsIn(list.Of(), map[string]string{"min-compatibility-version": flag})
		golden.Must(t, err)
		d := list.DescribeIn("ComesEarly", versions)
		if !d.Known || d.Spec.Default != want {
			t.Errorf("min-compatibility-version %q: %+v, want default %t", flag, d.Spec, want)
		}
	}
}

// The dependencies of a gate are also checked with the defaults at the compatibility version. The program's --help does
// not count then: it shows the defaults without flags.
func TestCheckAtACompatibilityVersion(t *testing.T) {
	list := &features.List{
		Version: "1.37.2",
		Gates: map[string]features.Gate{
			"Range": {Specs: []features.Spec{
				spec("1.37", features.Beta, false, false),
				{Since: "1.37", Stage: features.Beta, Default: true, MinCompatibility: "1.37"},
			}},
			"User": {Specs: []features.Spec{spec("1.37", features.Alpha, false, false)}, Needs: []string{"Range"}},
		},
		Programs: map[clusters.Component]map[string]bool{clusters.Scheduler: {"Range": false, "User": false}},
	}
	for flag, want := range map[string]int{"": 1, "1.36": 1, "1.37": 0} {
		versions, err := features.VersionsIn(list.Of(), map[string]string{"min-compatibility-version": flag})
		golden.Must(t, err)
		got := list.Check(versions, clusters.Scheduler, map[string]bool{"User": true})
		if len(got) != want {
			t.Errorf("min-compatibility-version %q: %v, want %d problems", flag, got, want)
		}
	}
}
