package planning

import (
	"runtime"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/memory"
)

// Room is the resources of a machine for clusters.
type Room struct {
	// Cores is the number of cores.
	Cores int
	// Memory is the available memory, in bytes.
	Memory int64
}

// ThisMachine returns the room of the machine that runs this process. It returns an error if the memory is unknown.
func ThisMachine() (Room, error) {
	available, err := memory.Available()
	return Room{Cores: runtime.GOMAXPROCS(0), Memory: available}, err
}

// reserve is the divisor for the memory that stays free for other programs and for the harness itself.
const reserve = 4

// AtOnce returns how many clusters of the plan can run at the same time: one for each core, as long as three quarters
// of the memory are enough for that many of the largest; at least one. It returns one if the provider does not know
// the size of its clusters.
func (p *Plan) AtOnce(room Room) int {
	sizer, able := p.Provider.(clusters.Sizer)
	if !able {
		return 1
	}
	var largest int64
	for _, track := range p.Tracks {
		footprint := sizer.Footprint(track.Path)
		if footprint.Only {
			return 1
		}
		largest = max(largest, footprint.Memory)
	}
	if p.FixedPort() != "" {
		return 1
	}
	atOnce := min(room.Cores, len(p.Tracks))
	if largest > 0 {
		atOnce = min(atOnce, int((room.Memory-room.Memory/reserve)/largest))
	}
	return max(atOnce, 1)
}

// FixedPort names a system whose program can only listen on one port of this machine (webhookPort), if several clusters
// need such a system; "" otherwise. These clusters run one after the other.
func (p *Plan) FixedPort() string {
	var found []string
	for _, track := range p.Tracks {
		for _, state := range track.Path {
			at := slices.IndexFunc(state.Systems, func(s clusters.System) bool {
				process := s.Launched()
				return process != nil && process.WebhookPort != 0
			})
			if at >= 0 {
				found = append(found, state.Systems[at].Name)
				break
			}
		}
	}
	if len(found) < 2 {
		return ""
	}
	return found[0]
}

// Spare returns how many more clusters there is room for, while as many only wait: those need memory, but no core.
func (p *Plan) Spare(room Room) int {
	twice := room
	twice.Cores *= 2
	return p.AtOnce(twice) - p.AtOnce(room)
}

// MostAtOnce returns how many clusters the provider supports at the same time, regardless of room; 0 for no limit.
func (p *Plan) MostAtOnce() int {
	if sizer, able := p.Provider.(clusters.Sizer); able && len(p.Tracks) > 0 && sizer.Footprint(p.Tracks[0].Path).Only {
		return 1
	}
	return 0
}
