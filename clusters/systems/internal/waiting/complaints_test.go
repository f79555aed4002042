package waiting

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The answer of a process that is not ready is reported after a while, again after it has changed, and again after it
// has stayed the same for long.
func TestComplaints(t *testing.T) {
	var told []string
	c := complaints{say: func(waited time.Duration,
		text string,
	) {
		told = append(told, fmt.Sprintf("%s %s", waited, text))
	}}
	start := time.Now()
	for _, look := range []struct {
		at   time.Duration
		text string
	}{
		{0, "rejected"},
		{4 * time.Second, "rejected"},
		{5 * time.Second, "rejected"},
		{6 * time.Second, "503"},
		{9 * time.Second, "503"},
		{10 * time.Second, "503"},
		{30 * time.Second, "503"},
		{41 * time.Second, "503"},
	} {
		c.note(start.Add(look.at), look.text)
	}
	if want := []string{"5s rejected", "10s 503", "41s 503"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
