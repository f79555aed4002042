package yamltree

import (
	"strings"
	"testing"
)

func TestErrorShowsThePlaceInALongLine(t *testing.T) {
	line := strings.Repeat("a", 200) + "\tX" + strings.Repeat("b", 200)
	text := (&Error{Position: Position{File: "f", Line: 1, Column: 202}, Message: "m", Hint: "h", Line: line}).Error()
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[0] != "f:1:202: m" || lines[3] != "  h" {
		t.Fatalf("%q", text)
	}
	shown, caret := []rune(lines[1]), []rune(lines[2])
	if shown[len(caret)-1] != 'X' || caret[len(caret)-1] != '^' || len(shown) > excerptWidth+10 {
		t.Errorf("\n%s\n%s", lines[1], lines[2])
	}
}
