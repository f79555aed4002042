package programs

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// maxOutput is how many bytes of each output stream are kept.
const maxOutput = 1 << 20

// Output is what a program wrote to one of its streams.
type Output struct {
	// Kept is the beginning of the output. Cut is how many more bytes there were.
	Kept string
	Cut  int
}

// Limited shortens an output as Run does.
func Limited(output []byte) Output {
	var b bounded
	_, _ = b.Write(output) // it accepts everything
	return b.output()
}

// String returns what was kept, and how much was not.
func (o Output) String() string {
	if o.Cut == 0 {
		return o.Kept
	}
	return fmt.Sprintf("%s\n(%d more bytes)", o.Kept, o.Cut)
}

// unlike returns how the output differs from the wanted one; "" if it does not, or if what was cut off decides that.
// Then undecided says what is unknown.
func (o Output) unlike(want scenarios.Text) (differs, undecided string) {
	if o.Cut == 0 {
		return writes.Unlike(want, o.Kept), ""
	}
	var open scenarios.Text // what the beginning does not decide
	if want.Contains != "" && !strings.Contains(o.Kept, want.Contains) {
		open.Contains = want.Contains
	}
	if want.Lacks != "" {
		if strings.Contains(o.Kept, want.Lacks) {
			return writes.Unlike(scenarios.Text{Lacks: want.Lacks}, o.Kept), ""
		}
		open.Lacks = want.Lacks
	}
	if want.Equals != "" {
		if len(want.Equals) != len(o.Kept)+o.Cut || !strings.HasPrefix(want.Equals, o.Kept) {
			return writes.Unlike(scenarios.Text{Equals: want.Equals}, o.String()), ""
		}
		open.Equals = want.Equals
	}
	if want.Matches != "" && !surelyMatches(want.Matches, o.Kept) {
		open.Matches = want.Matches
	}
	if open == (scenarios.Text{}) {
		return "", ""
	}
	return "", fmt.Sprintf("was cut after %d bytes: it is unknown whether all of it %s", len(o.Kept),
		writes.Describe(open))
}

// surelyMatches reports whether a text matches an expression, whatever follows it. A match that reaches its end says
// nothing: the end of the text may be a part of it.
func surelyMatches(expression, text string) bool {
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return false
	}
	at := pattern.FindStringIndex(text)
	return at != nil && at[1] <= len(text)-utf8.UTFMax
}

// bounded keeps the beginning of the data.
type bounded struct {
	kept    bytes.Buffer
	dropped int
}

// Write keeps what fits, and drops the rest, so that the program does not block.
func (b *bounded) Write(data []byte) (int, error) {
	room := min(len(data), maxOutput-b.kept.Len())
	b.dropped += len(data) - room
	b.kept.Write(data[:room])
	return len(data), nil
}

func (b *bounded) output() Output { return Output{Kept: b.kept.String(), Cut: b.dropped} }
