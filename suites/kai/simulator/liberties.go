package simulator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

const (
	libertyStatusSchema = "status-schema-short"
	libertyDuplicates   = "duplicates-in-schema"
)

// Liberties lists the allowed differences of the simulator.
func Liberties() []liberty.Liberty {
	return slices.Concat(
		liberty.OfWebhooks(bugs.IDs("02 03 04 05 06 07 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 28 30 34 36 39 40 46 47 "+
			"54")),
		liberty.OfPrograms(),
		[]liberty.Liberty{
			{
				Name: libertyStatusSchema, Sentence: "The status has neither phase nor counts, which the specification does not " +
					"mention.",
				About: bugs.IDs("29 31 35 48"),
			},
			{
				Name: libertyDuplicates, Sentence: "The schema also rejects two sub groups with the same name: their list " +
					"has keys.",
				About: bugs.IDs("14 15 16 17 21 23 24 28 30 33 40 46 54"),
			},
			{Name: liberty.MoreMetadata, Sentence: "The definition has a label, an annotation and a category that the " +
				"specification does not mention."},
			{Name: liberty.MoreEvents, Sentence: "The webhook records each write that it accepts in an Event."},
		})
}

// The messages of rejections, without those of the specification's own examples, each with the same in other words. The
// texts that the Test Strategy requires stay: "must be lowercase", "is invalid", "exceeds maximum length", "cannot be
// empty".
var otherTexts = []struct {
	text  *regexp.Regexp
	other string
}{
	{
		regexp.MustCompile(`^subgroup name (".*") must be lowercase; use (".*") instead$`),
		"each name must be lowercase, and $1 is not, but $2 would do",
	},
	{regexp.MustCompile(`^subgroup name (".*") is invalid: .*$`), "$1 is invalid here, for the signs in it"},
	{regexp.MustCompile(`^subgroup name (".*") exceeds maximum length of 63 characters$`), "$1 exceeds maximum length"},
	{regexp.MustCompile(`^subgroup name cannot be empty$`), "what a subgroup is called cannot be empty"},
	{regexp.MustCompile(`^duplicate subgroup name (.*)$`), "there is more than one $1"},
	{regexp.MustCompile(`^parent (.*) of (.*) was not found$`), "$2 wants to be below $1, which is not there"},
	{regexp.MustCompile(`^cycle detected in subgroups$`), "subgroups are below themselves (a cycle)"},
}

// examples are the names of the specification's examples, for which it shows the whole message.
var examples = []string{"DecodeWorkers", "decode_workers", "-workers"}

// otherWords returns a rejection in other words. Messages that the specification shows verbatim stay.
func otherWords(text string) string {
	if slices.ContainsFunc(examples,
		func(name string) bool { return strings.HasPrefix(text, fmt.Sprintf("subgroup name %q ", name)) }) {
		return text
	}
	for _, each := range otherTexts {
		if each.text.MatchString(text) {
			return each.text.ReplaceAllString(text, each.other)
		}
	}
	return text
}
