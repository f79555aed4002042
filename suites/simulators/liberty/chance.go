package liberty

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
)

// chance is reproducible randomness: each value depends on the seed, the subject, and how often that subject was asked
// for.
type chance struct {
	seed  uint64
	mu    sync.Mutex
	asked map[string]uint64
	// first is when the liberty takes effect.
	first sync.Once
}

func (c *chance) roll(about string) float64 {
	c.mu.Lock()
	n := c.asked[about]
	c.asked[about]++
	c.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", about, n)
	return rand.New(rand.NewPCG(c.seed, hash.Sum64())).Float64() //nolint:gosec // it must be reproducible
}

// Seeded gives a seed to the liberties that have none.
func Seeded(asked []string, seed func() uint64) []string {
	var all []string
	for _, text := range asked {
		if !strings.Contains(text, "=") {
			text = fmt.Sprintf("%s=%d", text, seed())
		}
		all = append(all, text)
	}
	return all
}
