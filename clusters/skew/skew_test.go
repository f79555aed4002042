package skew_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		from, to string
		// want is the error without its common end; "" for no error.
		want string
	}{
		{"1.34.4", "1.34.4", ""},
		{"1.34.4", "1.34.0", ""},
		{"1.34.4", "1.35.0", ""},
		{"1.35.4", "1.34.4", ""},
		{"1.34", "1.35", ""},
		{"1.36.3", "1.37.0-alpha.1", ""},
		{"1.37.0-alpha.1", "1.36.3", ""},
		{
			"1.34.4", "1.36.3",
			"the upgrade from Kubernetes 1.34.4 to 1.36.3 skips 1.35: a control plane goes up one minor version at a time",
		},
		{
			"1.36.3", "1.34.4",
			"the downgrade from Kubernetes 1.36.3 to 1.34.4 skips 1.35: a control plane goes down one minor version at a time",
		},
		{
			"1.33.0", "1.37.0",
			"the upgrade from Kubernetes 1.33.0 to 1.37.0 skips 1.34, 1.35 and 1.36: a control plane goes up one minor " +
				"version at a time",
		},
		{
			"1.37.0", "1.33.0",
			"the downgrade from Kubernetes 1.37.0 to 1.33.0 skips 1.36, 1.35 and 1.34: a control plane goes down one minor " +
				"version at a time",
		},
		{
			"1.34.4", "1.36.0-rc.1",
			"the upgrade from Kubernetes 1.34.4 to 1.36.0-rc.1 skips 1.35: a control plane goes up one minor version at a time",
		},
		{
			"1.36.0", "2.0.0",
			"cannot go from Kubernetes 1.36.0 to 2.0.0: the version skew policy knows no change of the major version",
		},
	} {
		t.Run(test.from+" to "+test.to, func(t *testing.T) {
			err := skew.Check(test.from, test.to)
			if test.want == "" {
				if err != nil {
					t.Fatalf("rejected: %v", err)
				}
				return
			}
			want := test.want + " (" + skew.Policy + ")"
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestErrorNamesThePolicy(t *testing.T) {
	golden.Error(t, skew.Check("1.33.0", "1.36.0"), "https://kubernetes.io/releases/version-skew-policy/")
}

func version(t *testing.T, text string) clusters.Version {
	t.Helper()
	v, err := clusters.ParseVersion(text)
	golden.Must(t, err)
	return v
}
