package releases

import (
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// every limits progress messages: the first at once, then at most one per second.
type every struct {
	now  func() time.Time
	last time.Time
}

func (e *every) due() bool {
	now := e.now()
	if !e.last.IsZero() && now.Sub(e.last) < time.Second {
		return false
	}
	e.last = now
	return true
}

// byteCounter reports the progress of a download.
type byteCounter struct {
	what        string
	total, seen int64
	every       every
	progress    clusters.Progress
}

func (c *byteCounter) Write(p []byte) (int, error) {
	c.seen += int64(len(p))
	if c.every.due() {
		if c.total > 0 {
			c.progress("downloading %s, %d of %d MB", c.what, c.seen/1e6, c.total/1e6)
		} else {
			c.progress("downloading %s, %d MB", c.what, c.seen/1e6)
		}
	}
	return len(p), nil
}
