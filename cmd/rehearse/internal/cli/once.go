package cli

import (
	"errors"

	"github.com/spf13/pflag"
)

// OnceVar adds a text flag that may be given only once. Of two selections, one would be ignored.
func OnceVar(flags *pflag.FlagSet, to *string, name, usage string) {
	flags.Var(&once{to: to}, name, usage)
}

// once is the value of such a flag.
type once struct {
	to  *string
	set bool
}

// String implements pflag.Value.
func (o *once) String() string {
	if o.to == nil {
		return ""
	}
	return *o.to
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.set {
		return errors.New("give it only once: combine both in one expression")
	}
	*o.to, o.set = text, true
	return nil
}

// Type implements pflag.Value.
func (o *once) Type() string { return "string" }
