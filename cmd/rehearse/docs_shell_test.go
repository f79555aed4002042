package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// assignment matches a variable before a command.
var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// simpleCommands splits a line of a shell into its commands, and each of them into its words: also those after a pipe,
// in parentheses and in $(...). It leaves out variables, redirections, and the words of a loop. bash has checked the
// syntax.
func simpleCommands(line string) (all [][]string) {
	var words []string
	var word strings.Builder
	var quote rune
	quoted := false // so an empty text in quotes is a word
	endWord := func() {
		if word.Len() > 0 || quoted {
			words = append(words, word.String())
		}
		word.Reset()
		quoted = false
	}
	endCommand := func() {
		endWord()
		for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains(shellWords(), words[0])) {
			words = words[1:]
		}
		if at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, ">") }); at >= 0 {
			words = words[:at]
		}
		if len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
	for i, sign := range line {
		switch {
		case quote != 0 && sign == quote:
			quote = 0
		case quote == 0 && (sign == '\'' || sign == '"'):
			quote, quoted = sign, true
		case quote == '\'':
			word.WriteRune(sign)
		case sign == '(' && strings.HasSuffix(line[:i], "$") && quote == 0:
			all = append(all, simpleCommands(line[i+1:strings.LastIndex(line, ")")])...)
			word.WriteString("(...)")
			endCommand()
			return all
		case quote == 0 && strings.ContainsRune("|&;()", sign):
			endCommand()
		case quote == 0 && sign == ' ':
			endWord()
		default:
			word.WriteRune(sign)
		}
	}
	endCommand()
	return all
}

// shellWords are those that may stand before a command.
func shellWords() []string { return []string{"until", "while", "do", "done", "sudo", "export"} }

func TestSimpleCommands(t *testing.T) {
	for line, want := range map[string]string{
		`go test ./...`: `go,test,./...`,
		`helm template a | rehearse upgrade -f -`:                           `helm,template,a;rehearse,upgrade,-f,-`,
		`(cd a && go build -o ../b ./cmd)`:                                  `cd,a;go,build,-o,../b,./cmd`,
		`until kubectl get job -o 'a b' | grep -E 'C|F'; do sleep 10; done`: `kubectl,get,job,-o,a b;grep,-E,C|F;sleep,10`,
		`BROKEN=owners rehearse merge a -o b > c.log`:                       `rehearse,merge,a,-o,b`,
		`sed -i 's/"1"/"2"/' $(grep -rl '"1"' a)`:                           `grep,-rl,"1",a;sed,-i,s/"1"/"2"/,$(...)`,
		`export KUBECONFIG=$(rehearse cluster kubeconfig)`:                  `rehearse,cluster,kubeconfig`,
		`rehearse report markdown r >> "$GITHUB_STEP_SUMMARY"`:              `rehearse,report,markdown,r`,
		`rehearse explore --path "1.34 A=true,1.34 A=false" --label ''`:     `rehearse,explore,--path,1.34 A=true,1.34 A=false,--label,`,
		`sudo make node-images VERSIONS="1.34 1.35"`:                        `make,node-images,VERSIONS=1.34 1.35`,
	} {
		var got []string
		for _, words := range simpleCommands(line) {
			got = append(got, strings.Join(words, ","))
		}
		if all := strings.Join(got, ";"); all != want {
			t.Errorf("%s: got %s, want %s", line, all, want)
		}
	}
}

func TestCommandsIn(t *testing.T) {
	page := strings.Join([]string{
		"Sentences have `make all` and `rehearse run`, but also `c`.", "", "    terraform apply   # a comment", "    go test \\",
		"      ./...", "", "    41 objects", "    done: all", "    kind   objects   1.34", "", "Then", "", "    $ ls a", "    b", "",
		"    FAULT  CAUGHT BY", "    late  none", "", "```sh", "BROKEN=a (cd b && make c)", "```", "", "```yaml", "run all", "```",
	}, "\n")
	blocks, sentences, err := commandsIn("a.md", page)
	want := "[a.md:3: terraform apply a.md:4: go test ./... a.md:13: ls a a.md:20: BROKEN=a (cd b && make c)]"
	if got := fmt.Sprint(blocks); err != nil || got != want || len(sentences) != 2 {
		t.Errorf("got %s and %s, %v; want %s", got, sentences, err, want)
	}
	if _, err := (sandbox{}).check(t, []string{"terraform", "apply"}); err == nil {
		t.Error("a program that nobody knows is accepted")
	}
	if _, _, err := commandsIn("a.md", "```fish\nls\n```"); err == nil {
		t.Error("a language that nobody knows is accepted")
	}
	if r := rules().of(pageCommand{page: "a.md", text: "make all"}); r != nil {
		t.Errorf("%+v is a rule for a new command", r)
	}
}
