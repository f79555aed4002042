package waiting

import (
	"context"
	"time"
)

// complaints reports the error of a check that keeps failing.
type complaints struct {
	say         func(waited time.Duration, text string)
	began, told time.Time
	text        string
}

// An error is reported after firstComplaint. After that it is reported when it changes, or is still the same after
// sameComplaint.
const (
	firstComplaint = 5 * time.Second
	sameComplaint  = 30 * time.Second
)

// Complaining wraps a check so that say is called with the errors of one that keeps failing.
func Complaining(look func(context.Context) error, say func(waited time.Duration, text string),
) func(context.Context) error {
	c := &complaints{say: say}
	return func(ctx context.Context) error {
		err := look(ctx)
		if err != nil {
			c.note(time.Now(), err.Error())
		}
		return err
	}
}

func (c *complaints) note(now time.Time, text string) {
	if c.began.IsZero() {
		c.began, c.told = now, now
	}
	since := now.Sub(c.told)
	if since >= sameComplaint || since >= firstComplaint && text != c.text {
		c.told, c.text = now, text
		c.say(now.Sub(c.began), text)
	}
}
