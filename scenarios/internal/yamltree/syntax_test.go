package yamltree

import (
	"strings"
	"testing"
)

// An error of the YAML parser is reported where the author must look, with what to do. Before and after the mistake are
// valid steps that look like other mistakes.
func TestSyntaxErrors(t *testing.T) {
	const (
		before = "steps:\n- eventually: {kind: Pod, cel: size(object) == (1)}\n- command: |\n    x\n    \ty: ${z}\n"
		after  = "- delete: {name: a}\n- delete: {name: b, data: \"!has(x)\"}\n"
	)
	for _, test := range []struct {
		name, text string
		// want is the line and the column, counted from the first line of the text, and a part of the error.
		line, column int
		want         string
	}{
		{"CEL with brackets", "- a: {cel: o[0].p == 1}", 1, 7, QuoteCEL},
		{"CEL with braces", "- a: {cel: o.all(c, c == {}.y)}", 1, 7, QuoteCEL},
		{"CEL on its own line", "- a: {x: y,\n    cel: o[0].p == 1,\n    z: 1}", 2, 5, QuoteCEL},
		{"CEL that begins with a text", `- a: {x: y, cel: "a" in o}`, 1, 18, "put the whole expression in single quotes"},
		{"in a block", "- a:\n    cel: \"a\" in o", 2, 10, "put the whole expression in single quotes"},
		{"with another quote", "- a: {before: 'a' == o}", 1, 15, "put the whole expression in single quotes"},
		{"a text after quotes", `- b: "x" y`, 1, 6, "put the whole value in quotes"},
		{"negation in a flow mapping", "- a: {x: y, cel: !has(o.x)}", 1, 18, "YAML reads ! as a tag"},
		{"negation in a block", "- a:\n    cel: !has(o.x) && o[0] == {}", 2, 10, "YAML reads ! as a tag"},
		{"negation alone", "- a:\n    cel: !has(o.x)", 2, 10, "YAML reads ! as a tag"},
		{"negation of a field", "- a: {cel: !o.x}", 1, 12, "YAML reads ! as a tag"},
		{"expression in a flow mapping", "- a: {data: {a: ${namespace}}}", 1, 17, `in quotes: "${namespace}"`},
		{"expression in a list", "- a: {run: [echo, web-${namespace}]}", 1, 19, `in quotes: "${namespace}"`},
		{"quotes are no mistake", "- a: {b: \"!has(x) ${y}\", c: d: e]}", 1, 1, "did not find expected"},
		{"colon", "- b: c: d", 1, 1, "needs quotes; otherwise look at the indentation"},
		{"indentation", "- b: c\n d: e", 2, 2, "look at the indentation"},
		{"unclosed quote", "- b: 'c\n  d: e", 1, 1, "a quote that opens here is not closed"},
		{"unclosed brace", "- b: {c: d", 1, 1, "is not closed"},
		{"at sign", "- b: @x", 1, 1, "needs quotes"},
		{"tab", "- b:\n\tc: d", 2, 1, "a tab in the indentation"},
		{"tab before a block scalar", "- b: |\n\n  \t\n  c", 3, 3, "a tab in the indentation"},
		{"with comments behind it", "- b: c\n d: e\n# one\n\n# two", 2, 2, "look at the indentation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source, wrong := NewSource("x.yaml", []byte(before+test.text+"\n"+after))
			if wrong != nil {
				t.Fatal(wrong)
			}
			var found Problems
			Parse(source, &found)
			if len(found.List) != 1 {
				t.Fatalf("got %v", found.List)
			}
			err := found.List[0]
			line := err.Position.Line - strings.Count(before, "\n")
			if line != test.line || err.Position.Column != test.column || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got line %d, column %d: %v; want line %d, column %d: %s", line, err.Position.Column, err, test.line,
					test.column, test.want)
			}
		})
	}
}
