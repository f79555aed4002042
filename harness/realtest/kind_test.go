package realtest

import (
	"os"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// realNodes returns kind's provider.
func realNodes(t *testing.T) *kind.Provider {
	t.Helper()
	if os.Getenv("REHEARSE_TEST_KIND") == "" {
		t.Skip("needs a container engine and node images: make test-kind")
	}
	p, err := kind.Default(releases.Options{}, kind.NodeImages{}, t.Logf)
	golden.Must(t, err)
	return p
}

// These scenario files use what only kind clusters support: kubeadm's own upgrade, and several control planes.
// Scenarios that must fail state the reason.
func TestSlowLiveKindOnly(t *testing.T) {
	p := realNodes(t)
	for _, file := range []struct {
		name string
		// fails maps scenarios that must fail to the words of their error.
		fails map[string]string
	}{
		{name: "kubeadm.yaml"},
		{name: "control-planes.yaml", fails: map[string]string{"taken-back": "the cluster was taken back to 1.34."}},
	} {
		t.Run(file.name, func(t *testing.T) {
			text := golden.Read(t, "testdata/"+file.name)
			result := run(t, p, text)
			for _, track := range result.Tracks {
				for _, s := range track.Scenarios {
					why, fails := file.fails[s.Name]
					if fails != (s.Status == reports.Error) || !fails && s.Status != reports.Passed ||
						!strings.Contains(explain(result), why) {
						t.Errorf("%s: %s:\n%s", s.Name, s.Status, explain(result))
					}
				}
			}
		})
	}
}
