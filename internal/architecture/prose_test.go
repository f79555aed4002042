package architecture

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is how wide a line of prose may be.
const mostColumns = 100

// Prose is wrapped: that of documents, comments in the Makefile and in the scripts of CI, and comments and texts of
// scenarios and requirements. The linters check only Go files.
func TestProseIsWrapped(t *testing.T) {
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			hidden := strings.HasPrefix(entry.Name(), ".") && name != "." && name != ".ci"
			if hidden || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		var wide func(lines []string) []int
		switch {
		case path.Ext(name) == ".md":
			wide = wideProse
		case name == "Makefile", path.Dir(name) == ".ci":
			wide = wideComments
		case path.Ext(name) == ".yaml" && slices.Contains([]string{"scenarios", "examples", "suites"}, top(name)):
			wide = wideYAML
		default:
			return nil
		}
		text, err := os.ReadFile(path.Join(root, name))
		if err != nil {
			return err
		}
		for _, line := range wide(strings.Split(string(text), "\n")) {
			t.Errorf("%s:%d: wrap this at %d columns", name, line, mostColumns)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wideProse returns the numbers of the wide lines of a document. It ignores code, tables and pictures, and lines
// without a blank to wrap at.
func wideProse(lines []string) []int {
	var wide []int
	fenced := false
	for i, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(text, "|") || strings.HasPrefix(text, "!["):
		case utf8.RuneCountInString(line) > mostColumns && strings.Contains(text, " "):
			wide = append(wide, i+1)
		}
	}
	return wide
}

// comment matches a comment, except for a command, which is indented.
var comment = regexp.MustCompile(`^\s*#+ ?\S`)

// wideComments returns the numbers of the lines that are wide comments.
func wideComments(lines []string) []int {
	var wide []int
	for i, line := range lines {
		if utf8.RuneCountInString(line) > mostColumns && comment.MatchString(line) {
			wide = append(wide, i+1)
		}
	}
	return wide
}

// text matches the beginning of a value that people read, and what precedes its key.
var text = regexp.MustCompile(`^( *(?:- )?)(?:description|statement|source|noFault|reason): +[^|{\[]`)

// wideYAML returns the numbers of the lines that are wide comments, or wide lines of values that people read. Values
// for programs, such as expressions, and literal ones (|) may be wide.
func wideYAML(lines []string) []int {
	wide := wideComments(lines)
	key := -1 // the column of the key whose value is read
	for i, line := range lines {
		words := strings.TrimSpace(line)
		if words != "" && len(line)-len(strings.TrimLeft(line, " ")) <= key {
			key = -1
		}
		if begin := text.FindStringSubmatch(line); begin != nil && key < 0 {
			key = len(begin[1])
		}
		if key >= 0 && utf8.RuneCountInString(line) > mostColumns && strings.Contains(words, " ") {
			wide = append(wide, i+1)
		}
	}
	return wide
}

// What counts as wide.
func TestWide(t *testing.T) {
	long := strings.Repeat("word ", 25)
	for text, want := range map[string]struct{ prose, comments int }{
		long:                           {1, 0},
		"- " + long:                    {1, 0},
		"# " + long:                    {1, 1},
		"  # " + long:                  {1, 1},
		"#   rehearse run " + long:     {1, 0},
		"    " + long:                  {0, 0},
		"| " + long:                    {0, 0},
		"```\n" + long + "\n```":       {0, 0},
		"![" + long:                    {0, 0},
		strings.Repeat("word", 30):     {0, 0},
		strings.Repeat("ä", 99) + " b": {1, 0},
		strings.Repeat("ä", 98) + " b": {0, 0},
	} {
		lines := strings.Split(text, "\n")
		if n := len(wideProse(lines)); n != want.prose {
			t.Errorf("%q has %d wide lines of prose, want %d", text, n, want.prose)
		}
		if n := len(wideComments(lines)); n != want.comments {
			t.Errorf("%q has %d wide comments, want %d", text, n, want.comments)
		}
	}
}

// What counts as wide in YAML.
func TestWideYAML(t *testing.T) {
	long := strings.Repeat("word ", 25)
	for text, want := range map[string][]int{
		"# " + long:                                  {1},
		"description: " + long:                       {1},
		"- statement: \"" + long + "\"":              {1},
		"  noFault: short\n    " + long:              {2},
		"- source: >-\n    short\n\n    " + long:     {4},
		"- source: >-\n    short\n  other: " + long:  {},
		"reason: short\ncel: >-\n  " + long:          {},
		"description: |\n  " + long:                  {},
		"reason: {text: " + long + "}":               {},
		"description: >-\n  reason: b\n  " + long:    {3},
		"description: >-\n  " + long[:90] + "\nb: c": {},
	} {
		if got := wideYAML(strings.Split(text, "\n")); !slices.Equal(got, want) {
			t.Errorf("the wide lines of %q are %v, want %v", text, got, want)
		}
	}
}
