package matching

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gonvenience/bunt"
	"github.com/gonvenience/ytbx"
	"github.com/homeport/dyff/pkg/dyff"
	"go.yaml.in/yaml/v3"
)

// What a person still reads: what is longer than this is cut, saying so.
const (
	maxValueLines  = 24
	maxLineLength  = 200
	maxDifferences = 20
)

// Diff explains to a person, as a YAML diff, where what is there is not what was wanted; "" when it matches. Lines with a
// "-" were wanted, lines with a "+" are there. Nothing is shown of what was not asked for.
func Diff(want, got any) string {
	mismatches := Match(want, got)
	var b strings.Builder
	for i, mismatch := range mismatches {
		if i == maxDifferences {
			fmt.Fprintf(&b, "... and %d more differences\n", len(mismatches)-i)
			break
		}
		path := mismatch.Path
		if path == "" {
			path = "(the whole)"
		}
		b.WriteString(path + "\n" + indent(cut(difference(mismatch), maxValueLines), "  "))
	}
	return b.String()
}

func difference(m Mismatch) string {
	switch {
	case m.Want == nil:
		return "must be absent\n" + prefix("+ ", toYAML(m.Got))
	case m.Missing && m.Got != nil:
		return "not in the list\n" + prefix("- ", toYAML(m.Want)) + prefix("+ ", toYAML(m.Got))
	case m.Missing:
		return "missing\n" + prefix("- ", toYAML(m.Want))
	default:
		return valueDiff(m.Want, m.Got)
	}
}

// valueDiff lets dyff compare two values that are both there.
func valueDiff(want, got any) (text string) {
	// Whatever dyff may think of a value, an explanation must not take the verdict down with it.
	defer func() {
		if recover() != nil {
			text = prefix("- ", toYAML(want)) + prefix("+ ", toYAML(got))
		}
	}()
	report, err := dyff.CompareInputFiles(document(want), document(got),
		dyff.IgnoreOrderChanges(true), dyff.KubernetesEntityDetection(false))
	if err != nil || len(report.Diffs) != 1 || len(report.Diffs[0].Details) != 1 || report.Diffs[0].Details[0].Kind != dyff.MODIFICATION {
		return prefix("- ", toYAML(want)) + prefix("+ ", toYAML(got))
	}
	human := dyff.HumanReport{Report: report, OmitHeader: true, NoTableStyle: true, DoNotInspectCerts: true, MultilineContextLines: 1}
	var out bytes.Buffer
	if err := human.WriteReport(&out); err != nil {
		return prefix("- ", toYAML(want)) + prefix("+ ", toYAML(got))
	}
	lines := strings.Split(bunt.RemoveAllEscapeSequences(out.String()), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	// The first line is the path, which here is always the root.
	lines = lines[1:]
	if len(lines) > 0 && lines[0] == "± value change" {
		lines = lines[1:]
	}
	if len(lines) > 0 {
		lines[0] = strings.TrimPrefix(lines[0], "± ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func document(v any) ytbx.InputFile {
	var content yaml.Node
	if err := content.Encode(v); err != nil {
		content = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: fmt.Sprint(v)}
	}
	return ytbx.InputFile{Documents: []*yaml.Node{{Kind: yaml.DocumentNode, Content: []*yaml.Node{&content}}}}
}

func toYAML(v any) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return out.String()
}

// inline writes a value into a sentence.
func inline(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func prefix(mark, text string) string { return indent(text, mark) }

func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		b.WriteString(by + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

func cut(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range all {
		if runes := []rune(line); len(runes) > maxLineLength {
			all[i] = fmt.Sprintf("%s... %d more", string(runes[:maxLineLength]), len(runes)-maxLineLength)
		}
	}
	if len(all) > lines {
		all = append(all[:lines], fmt.Sprintf("... %d more lines", len(all)-lines))
	}
	return strings.Join(all, "\n") + "\n"
}
