package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{Use: "rehearse", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newComponentCommand())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 2
	}
	return 0
}
