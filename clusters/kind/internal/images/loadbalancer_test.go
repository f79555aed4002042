package images

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The replaced image is the one that this version of kind starts.
func TestOfficialBalancerIsKinds(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind").Output()
	golden.Must(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg", "cluster", "internal", "loadbalancer",
		"const.go"))
	golden.Must(t, err)
	if !strings.Contains(string(source), `"`+OfficialBalancer+`"`) {
		t.Errorf("kind starts no %s:\n%s", OfficialBalancer, source)
	}
}

func TestChooseBalancer(t *testing.T) {
	given, err := Parse([]string{"1.34=x", "load-balancer=mine"})
	golden.Must(t, err)
	for _, c := range []struct {
		name            string
		images          NodeImages
		here, published []string
		want, problem   string
	}{
		{"given", given, []string{"mine", OfficialBalancer}, nil, "mine", ""},
		{"given and pulled", given, nil, []string{"mine"}, "mine", ""},
		{"official before ours", NodeImages{}, []string{nodeimage.BalancerTag, OfficialBalancer}, nil, OfficialBalancer, ""},
		{
			"ours before a pull",
			NodeImages{},
			[]string{nodeimage.BalancerTag},
			[]string{OfficialBalancer},
			nodeimage.BalancerTag, "",
		},
		{"pulled", NodeImages{}, nil, []string{OfficialBalancer}, OfficialBalancer, ""},
		{
			"none",
			NodeImages{},
			nil, nil, "",
			"there is no image " + OfficialBalancer + " for the load balancer that several control planes need: ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.images.ensureBalancer(t.Context(), &fakeStore{here: c.here, published: c.published}, t.Logf)
			if golden.Error(t, err, c.problem); err == nil && got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	broken := errors.New("the engine is away")
	if _, err := (NodeImages{}).ensureBalancer(t.Context(), &fakeStore{broken: broken}, t.Logf); !errors.Is(err, broken) {
		t.Errorf("an engine that is away: %v", err)
	}
}
