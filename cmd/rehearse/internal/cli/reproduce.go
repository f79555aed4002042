package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CommandLine is the command that repeats the report. It omits flags for where the reports go.
func CommandLine(command *cobra.Command, args ...string) string {
	words := []string{command.CommandPath()}
	for _, arg := range args {
		words = append(words, Quoted(arg))
	}
	command.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "output", "report-dir", "keep":
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if flag.Value.Type() == "stringToString" {
			values = []string{strings.Trim(flag.Value.String(), "[]")} // in the form of the flag
		}
		for _, value := range values {
			words = append(words, "--"+flag.Name+"="+Quoted(value))
		}
	})
	return strings.Join(words, " ")
}

// Quoted quotes a word for a shell, if necessary.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@,+%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
