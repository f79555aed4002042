package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Comparison is how a command compares two reports, of type R, whose difference is a D.
type Comparison[R, D any] struct {
	Read    func(path string) (R, error)
	Compare func(before, after R) (D, error)
	// Fails reports whether the difference is a failure.
	Fails func(D) bool
}

// Run compares the reports of the two arguments, and writes the difference.
func (c Comparison[R, D]) Run(command *cobra.Command, args []string) error {
	before, err := c.Read(args[0])
	if err != nil {
		return err
	}
	after, err := c.Read(args[1])
	if err != nil {
		return err
	}
	diff, err := c.Compare(before, after)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(command.OutOrStdout(), diff); err != nil {
		return Broken(fmt.Errorf("write the difference: %w", err))
	}
	if c.Fails(diff) {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
