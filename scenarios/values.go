package scenarios

import (
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Duration is a length of time as Go writes it: 500ms, 5s, 2m.
type Duration time.Duration

// UnmarshalScalar reads a positive duration such as "5s".
func (d *Duration) UnmarshalScalar(text string) error {
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 {
		return fmt.Errorf("%q is not a positive duration; write it like 500ms, 5s or 2m", text)
	}
	*d = Duration(parsed)
	return nil
}

// Or returns the duration, or the other one if it is zero.
func (d Duration) Or(other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return time.Duration(d)
}

// String returns the duration in Go's format.
func (d Duration) String() string { return time.Duration(d).String() }

// Suggest returns a hint that names the known word that is probably meant; "" if none is similar.
func Suggest(word string, known []string) string { return words.Suggest(word, known, "") }

// Position is a place in a file; the line and the column count from 1.
type Position = yamltree.Position

// Error is a mistake at a position in a scenario file.
type Error = yamltree.Error
