package cli

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The second of two selections would replace the first one in silence.
func TestOnceVar(t *testing.T) {
	var focus string
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	OnceVar(flags, &focus, "focus", "only these")
	golden.Must(t, flags.Parse([]string{"--focus", "one"}))
	if got, err := flags.GetString("focus"); got != "one" || focus != "one" || err != nil {
		t.Errorf("got %q and %q, %v", got, focus, err)
	}
	golden.Error(t, flags.Parse([]string{"--focus", "two"}), "give it only once")
}
