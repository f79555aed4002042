package program

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pluginFile is the name under which kubectl finds this program: as kubectl rehearse.
const pluginFile = "kubectl-rehearse"

// calledAs adapts the texts of the commands to the name under which the program was started.
func calledAs(root *cobra.Command, file string) *cobra.Command {
	if filepath.Base(file) != pluginFile {
		return root
	}
	name := "kubectl " + root.Name()
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	var names []string
	for _, command := range root.Commands() {
		names = append(names, command.Name())
	}
	typed := regexp.MustCompile(`\b` + root.Name() + ` (` + strings.Join(names, "|") + `|-)`)
	rename(root, func(text string) string { return typed.ReplaceAllString(text, name+" $1") })
	return root
}

// rename changes the texts of a command and of its subcommands.
func rename(command *cobra.Command, change func(string) string) {
	for _, text := range []*string{&command.Short, &command.Long, &command.Example} {
		*text = change(*text)
	}
	usage := func(flag *pflag.Flag) { flag.Usage = change(flag.Usage) }
	command.LocalNonPersistentFlags().VisitAll(usage)
	command.PersistentFlags().VisitAll(usage)
	for _, child := range command.Commands() {
		rename(child, change)
	}
}
