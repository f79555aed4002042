package planning

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// sized is a provider whose clusters need little memory.
type sized struct{ clusters.Provider }

func (sized) Footprint([]clusters.State) clusters.Footprint { return clusters.Footprint{Memory: 1} }

// Clusters whose systems listen on a fixed port run one after the other.
func TestAtOnce(t *testing.T) {
	room := Room{Cores: 4, Memory: 1 << 30}
	track := func(port int) *Track {
		process := &clusters.SystemProcess{Command: []string{"manager"}, WebhookPort: port}
		return &Track{Path: []clusters.State{{Systems: []clusters.System{{Name: "op", Process: process}}}}}
	}
	for _, test := range []struct {
		name   string
		tracks []*Track
		want   int
		system string
	}{
		{"no fixed port", []*Track{track(0), track(0), track(0)}, 3, ""},
		{"one with a fixed port", []*Track{track(0), track(9443), track(0)}, 3, ""},
		{"several with a fixed port", []*Track{track(9443), track(0), track(9443)}, 1, "op"},
	} {
		p := &Plan{Provider: sized{}, Tracks: test.tracks}
		if got := p.AtOnce(room); got != test.want || p.FixedPort() != test.system {
			t.Errorf("%s: %d at once, %q; want %d, %q", test.name, got, p.FixedPort(), test.want, test.system)
		}
		if test.system != "" && p.Spare(room) != 0 {
			t.Errorf("%s: %d spare clusters", test.name, p.Spare(room))
		}
	}
}
