package writes

import (
	"context"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// Times for the retries of a request whose outcome is unknown.
const (
	patience  = 15 * time.Second
	firstWait = 50 * time.Millisecond
	lastWait  = 2 * time.Second
	oneTry    = 30 * time.Second
)

// Persist sends a request until it is accepted or rejected, or its patience ends. It returns the result of the last
// try.
func Persist(ctx context.Context, send func(context.Context) error) (Outcome, error) {
	began, again := time.Now(), pauses.Growing(firstWait, lastWait)
	for {
		try, cancel := context.WithTimeout(ctx, oneTry)
		err := send(try)
		cancel()
		outcome := Judge(err)
		if outcome != Unknown || Undecodable(err) || time.Since(began) > patience || !pauses.Wait(ctx, again) {
			return outcome, err
		}
	}
}

// Undecodable reports whether the API server cannot decode what is stored. A newer one reports that with 429,
// permanently, as a storage that is not ready yet.
func Undecodable(err error) bool {
	words := Words(err)
	return strings.Contains(words, "no kind \"") && strings.Contains(words, "is registered for version") ||
		strings.Contains(words, "unable to decode")
}
