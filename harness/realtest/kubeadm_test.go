package realtest

import (
	"os"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/reports"
)

// A scenario file goes up with kubeadm upgrade.
func TestLiveKubeadm(t *testing.T) {
	if os.Getenv("REHEARSE_TEST_KIND") == "" {
		t.Skip("needs a container engine and node images: make test-kind")
	}
	p, err := kind.Default(releases.Options{}, kind.NodeImages{}, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/kubeadm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	result := run(t, p, string(text))
	if got := result.Tracks[0].Scenarios[0].Status; got != reports.Passed {
		t.Errorf("%s:\n%s", got, explain(result))
	}
}
