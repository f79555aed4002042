// Command release builds what is published for a version: binaries in archives with checksums, a bill of materials
// for each, the version's changes, and container images.
//
//	go run ./internal/release binaries
//	go run ./internal/release image --kubernetes 1.36
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := newCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// settings are those of all commands.
type settings struct {
	source, out string
}

func newCommand() *cobra.Command {
	var s settings
	root := &cobra.Command{
		Use: "release", Short: "Make what is published of a version",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&s.source, "source", ".", "folder of the checkout")
	root.PersistentFlags().StringVarP(&s.out, "output", "o", "dist", "folder for what is made")
	root.AddCommand(newBinariesCommand(&s), newImageCommand(&s), newBOMCommand())
	return root
}

func newBinariesCommand(s *settings) *cobra.Command {
	var once bool
	var wanted string
	command := &cobra.Command{
		Use: "binaries", Short: "Build the binaries, twice, and pack them", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			platforms, err := parsePlatforms(wanted)
			if err != nil {
				return err
			}
			return publishBinaries(command.Context(), *s, platforms, once, command.OutOrStdout())
		},
	}
	command.Flags().StringVar(&wanted, "platforms", "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64",
		"platforms to build for, separated by blanks or commas")
	command.Flags().BoolVar(&once, "once", false, "build only once, and prove nothing about what a second build gives")
	return command
}

func newImageCommand(s *settings) *cobra.Command {
	var kubernetes, wanted string
	command := &cobra.Command{
		Use: "image", Short: "Make a container image of the binaries for Linux, without a registry", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			platforms, err := parsePlatforms(wanted)
			if err != nil {
				return err
			}
			return publishImage(command.Context(), *s, platforms, listed(kubernetes), command.OutOrStdout())
		},
	}
	command.Flags().StringVar(&wanted, "platforms", "linux/amd64 linux/arm64",
		"platforms of the image, separated by blanks or commas")
	command.Flags().StringVar(&kubernetes, "kubernetes", "",
		"versions of Kubernetes in the cache that the image has as layers of their own")
	return command
}

func newBOMCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bom PROGRAM", Short: "Print the bill of materials of a binary, as the Dockerfile needs it",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			built, err := readProgram(platform{}, args[0])
			if err != nil {
				return err
			}
			list, err := encodeBOM(built.info, built.version(), built.committed)
			if err != nil {
				return err
			}
			_, err = command.OutOrStdout().Write(list)
			return err
		},
	}
}

// listed splits a list separated by blanks or commas.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
