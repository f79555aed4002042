package planning

import (
	"runtime"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/memory"
)

// Room is what a machine has for clusters.
type Room struct {
	// Cores of the machine.
	Cores int
	// Memory that is available, in bytes.
	Memory int64
}

// ThisMachine is what the machine of this process has. Its error says that its memory is unknown.
func ThisMachine() (Room, error) {
	available, err := memory.Available()
	return Room{Cores: runtime.GOMAXPROCS(0), Memory: available}, err
}

// reserve is the part of the memory that stays free, for others and for the harness itself.
const reserve = 4

// AtOnce is how many of the plan's clusters there is room for at the same time: one for each core, as long as the
// largest of them fits so often into three quarters of the memory; at least one. A provider that does not say what its
// clusters take has one at a time.
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
	atOnce := min(room.Cores, len(p.Tracks))
	if largest > 0 {
		atOnce = min(atOnce, int((room.Memory-room.Memory/reserve)/largest))
	}
	return max(atOnce, 1)
}

// Spare is for how many more clusters there is room while as many only wait: they take memory, but no core.
func (p *Plan) Spare(room Room) int {
	twice := room
	twice.Cores *= 2
	return p.AtOnce(twice) - p.AtOnce(room)
}

// MostAtOnce is how many clusters the provider can have at the same time, whatever there is room for; 0 where there is
// no limit.
func (p *Plan) MostAtOnce() int {
	if sizer, able := p.Provider.(clusters.Sizer); able && len(p.Tracks) > 0 && sizer.Footprint(p.Tracks[0].Path).Only {
		return 1
	}
	return 0
}
