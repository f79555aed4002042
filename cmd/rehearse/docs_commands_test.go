package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// pageCommand is a command of a document, with everything that a shell needs to run it.
type pageCommand struct {
	page string // its path in the repository
	line int
	text string // without a comment
}

func (d pageCommand) String() string { return fmt.Sprintf("%s:%d: %s", d.page, d.line, d.text) }

// TestCommandsOfTheDocuments accounts for each command in the blocks of each document. A command is run here, or
// another test runs it; otherwise it is checked as far as possible, and is a skipped test that says why it did not run.
// A command that is in no table, or of a program that nobody knows how to check, fails.
func TestCommandsOfTheDocuments(t *testing.T) {
	all, _ := documentedCommands(t)
	if len(all) < 170 {
		t.Errorf("only %d commands", len(all))
	}
	sandbox := newSandbox(t)
	rules := rules()
	for _, d := range all {
		r := rules.of(d)
		t.Run(d.String(), func(t *testing.T) {
			ran := true
			for _, words := range simpleCommands(d.text) {
				done, err := sandbox.check(t, words)
				if err != nil {
					t.Errorf("%s: %v", strings.Join(words, " "), err)
				}
				ran = ran && done
			}
			switch {
			case ran:
			case r == nil:
				t.Error("no test runs it, and nothing says why: add it to the tables in docs_rules_test.go")
			case r.test != "":
				t.Log("run by " + r.test)
			default:
				t.Skip("NOT RUN, only checked: " + r.reason)
			}
		})
	}
	rules.verify(t)
}

// Commands in sentences name programs, commands, targets, flags and files that exist.
func TestCommandsInSentences(t *testing.T) {
	_, all := documentedCommands(t)
	if len(all) < 140 {
		t.Errorf("only %d commands", len(all))
	}
	makefile := golden.Read(t, "../../Makefile")
	for _, d := range all {
		words := simpleCommands(regexp.MustCompile(`\bN\b`).ReplaceAllString(d.text, "1"))[0]
		switch words[0] {
		case "make":
			if !strings.Contains(makefile, "\n"+words[1]+":") {
				t.Errorf("%s: the Makefile has no such target", d)
			}
		case "rehearse":
			command, rest, err := program.New("rehearse").Find(words[1:])
			if err != nil {
				t.Errorf("%s: %v", d, err)
				continue
			}
			command.InitDefaultVersionFlag()
			if err := command.ParseFlags(rest); err != nil && !strings.Contains(err.Error(), "needs an argument") {
				t.Errorf("%s: %v", d, err)
			}
			if err := filesExist(words); err != nil {
				t.Errorf("%s: %v", d, err)
			}
		case "go":
			if err := checkGo(t, words[1:]); err != nil {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
}

// documents returns the paths of all documents in the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var pages []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(page string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
			return fs.SkipDir
		case !entry.IsDir() && filepath.Ext(page) == ".md":
			page, err = filepath.Rel(root, page)
			pages = append(pages, filepath.ToSlash(page))
		}
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d documents, %v", len(pages), err)
	}
	return pages
}

// documentedCommands returns the commands in the blocks of all documents, which a shell must be able to parse, and
// those in sentences.
func documentedCommands(t *testing.T) (blocks, sentences []pageCommand) {
	t.Helper()
	for _, page := range documents(t) {
		found, inText, err := commandsIn(page, golden.Read(t, filepath.Join("..", "..", page)))
		if err != nil {
			t.Error(err)
		}
		var script strings.Builder
		for _, d := range found {
			fmt.Fprintln(&script, d.text)
		}
		bash := exec.CommandContext(t.Context(), "bash", "-n")
		bash.Stdin = strings.NewReader(script.String())
		if out, err := bash.CombinedOutput(); err != nil {
			t.Errorf("%s: a shell cannot parse its commands: %v: %s", page, err, out)
		}
		blocks, sentences = append(blocks, found...), append(sentences, inText...)
	}
	return blocks, sentences
}

var (
	// commandLine matches a line that begins like a command: with a program, a variable, or a parenthesis. It does not
	// match YAML, output, or a list of files.
	commandLine = regexp.MustCompile(`^(\(|[A-Z_]+=\S+ )*[a-z.][\w./-]*\w( \S|$)`)
	// span matches a command in a sentence.
	span = regexp.MustCompile("`((?:make|go|rehearse) [a-z./-][^`…]+)`")
	// tableHead matches the first line of a table, which is output.
	tableHead = regexp.MustCompile(`^[A-Z][A-Z ]+  `)
	// comment matches the rest of a line that a shell ignores. No command has such a sign in quotes.
	comment = regexp.MustCompile(`\s+#.*$|\s+$`)
)

// commandsIn returns the commands in the blocks of a page, and those between backquotes in its sentences.
func commandsIn(page, text string) (all, sentences []pageCommand, err error) {
	var block []pageCommand
	language := "" // of the fenced block that the line is in
	for i, line := range strings.Split(text, "\n") {
		now := pageCommand{page: page, line: i + 1}
		fence, fenced := strings.CutPrefix(line, "```")
		indented, isIndented := strings.CutPrefix(line, "    ")
		switch {
		case fenced && language == "":
			language = cmp.Or(fence, "none")
			all, block = append(all, commandsOfBlock(block)...), nil
		case fenced:
			language = ""
			all, block = append(all, commandsOfBlock(block)...), nil
		case language == "sh" || language == "console" || language == "" && isIndented:
			now.text = indented
			if language != "" {
				now.text = line
			}
			block = append(block, now)
		case !slices.Contains([]string{"", "yaml", "go", "groovy", "mermaid", "none"}, language):
			return nil, nil, fmt.Errorf("%s:%d: nobody knows whether a block in %q has commands", page, i+1, language)
		case language == "" && strings.TrimSpace(line) != "": // a block may have empty lines
			all, block = append(all, commandsOfBlock(block)...), nil
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				now.text = m[1]
				sentences = append(sentences, now)
			}
		}
	}
	return append(all, commandsOfBlock(block)...), sentences, nil
}

// commandsOfBlock joins lines that end with a backslash, and leaves out comments, output and everything else that is no
// command.
func commandsOfBlock(lines []pageCommand) (all []pageCommand) {
	if len(lines) > 0 && tableHead.MatchString(lines[0].text) {
		return nil
	}
	prompted := slices.ContainsFunc(lines, func(d pageCommand) bool { return strings.HasPrefix(d.text, "$ ") })
	for i := 0; i < len(lines); i++ {
		d := lines[i]
		for strings.HasSuffix(d.text, "\\") && i+1 < len(lines) {
			i++
			d.text = strings.TrimSuffix(d.text, "\\") + strings.TrimSpace(lines[i].text)
		}
		text, hasPrompt := strings.CutPrefix(d.text, "$ ")
		if d.text = comment.ReplaceAllString(text, ""); hasPrompt == prompted && commandLine.MatchString(d.text) {
			all = append(all, d)
		}
	}
	return all
}
