package liberty

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// chance is randomness that can be repeated: what comes depends on the seed, on what it is about, and on how often it
// was asked about that.
type chance struct {
	seed  uint64
	mu    sync.Mutex
	asked map[string]uint64
}

func (c *chance) roll(about string) float64 {
	c.mu.Lock()
	n := c.asked[about]
	c.asked[about]++
	c.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", about, n)
	return rand.New(rand.NewPCG(c.seed, hash.Sum64())).Float64() //nolint:gosec // it is to be repeatable
}

// Seeded gives those of some liberties a seed that have none.
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

// pause waits; it is false when the context has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
