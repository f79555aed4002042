package program

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// isPath reports whether a text is a file or folder of scenarios, not a version of Kubernetes.
func isPath(text string) bool {
	if _, err := clusters.ParseVersion(text); err == nil {
		return false
	}
	_, err := os.Stat(text)
	return err == nil || strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".yml") || strings.Contains(text, "/")
}

// fetchFor gets what the scenarios of a path need: a release of each Kubernetes minor version that the cache does not
// have, with additional programs, and the programs of Go modules.
func fetchFor(command *cobra.Command, options releases.Options, path string, programs []string) error {
	set, err := scenarios.Load([]string{path})
	if err != nil {
		return err
	}
	options.Refresh = false
	store, err := releases.New(options)
	if err != nil {
		return err
	}
	versions, modules := needed(set.Scenarios)
	var errs []error
	for _, version := range versions {
		exact, err := store.Resolve(command.Context(), version)
		if err != nil {
			errs = append(errs, cli.Broken(err))
			continue
		}
		errs = append(errs, ensure(command, store, exact, programs))
	}
	for _, module := range modules {
		built, err := store.BuildModule(command.Context(), module)
		if err != nil {
			errs = append(errs, cli.Broken(err))
			continue
		}
		fmt.Fprintf(command.OutOrStdout(), "%s\t%s\n", module, built.Program)
	}
	return errors.Join(errs...)
}

// needed returns the versions of Kubernetes and the programs of Go modules that scenarios need, in their order.
func needed(list []*scenarios.Scenario) (versions []string, modules []clusters.ModuleProgram) {
	for _, s := range list {
		for _, state := range s.Path() {
			for _, component := range append([]clusters.Component{clusters.APIServer}, state.OwnVersions()...) {
				if version := state.VersionOf(component); version != "" && !slices.Contains(versions, version) {
					versions = append(versions, version)
				}
			}
			for _, system := range state.Systems {
				if program, ok := system.Program(); ok && !slices.Contains(modules, program) {
					modules = append(modules, program)
				}
			}
		}
	}
	return versions, modules
}
