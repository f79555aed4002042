package expressions

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// Use is one mention of a variable in an expression; line counts from 1, column from 0.
type Use struct {
	Variable string
	// Field that is selected from it, "" if there is none or it is computed. Inner is the field that is selected from
	// Field in the same way.
	Field, Inner string
	Line, Column int
}

// usesOf lists the variables that an expression mentions, without those that it defines itself.
func usesOf(checked *cel.Ast) []Use {
	known := map[string]bool{}
	for name := range variableTypes() {
		known[withoutReserved(name)] = true
	}
	native := checked.NativeRep()
	var uses []Use
	for _, ident := range ast.MatchDescendants(ast.NavigateAST(native), ast.KindMatcher(ast.IdentKind)) {
		name := strings.TrimPrefix(ident.AsIdent(), ".")
		if !known[name] || defined(ident) {
			continue
		}
		if name == namespaceVariable {
			name = "namespace"
		}
		location := native.SourceInfo().GetStartLocation(ident.ID())
		u := Use{Variable: name, Line: max(location.Line(), 1), Column: max(location.Column(), 0)}
		if field, whole := selected(ident); whole != nil {
			u.Field = field
			u.Inner, _ = selected(whole)
		}
		uses = append(uses, u)
	}
	return uses
}

// defined reports whether a comprehension around an identifier defines it.
func defined(ident ast.NavigableExpr) bool {
	part := ident
	for around, ok := part.Parent(); ok; around, ok = part.Parent() {
		if around.Kind() == ast.ComprehensionKind {
			c := around.AsComprehension()
			var names []string
			switch part.ID() {
			case c.LoopCondition().ID(), c.LoopStep().ID():
				names = []string{c.IterVar(), c.IterVar2(), c.AccuVar()}
			case c.Result().ID():
				names = []string{c.AccuVar()}
			}
			if slices.Contains(names, ident.AsIdent()) {
				return true
			}
		}
		part = around
	}
	return false
}

// selected returns the field that the expression around another one selects from it, and the expression around it; nil
// if it does not select one. It treats outputs["x"], outputs[?"x"] and outputs.?x as outputs.x.
func selected(from ast.NavigableExpr) (field string, whole ast.NavigableExpr) {
	around, ok := from.Parent()
	switch {
	case !ok:
	case around.Kind() == ast.SelectKind:
		return around.AsSelect().FieldName(), around
	case around.Kind() == ast.CallKind:
		c := around.AsCall()
		if !slices.Contains([]string{"_[_]", "_[?_]", "_?._"}, c.FunctionName()) || len(c.Args()) != 2 ||
			c.Args()[0].ID() != from.ID() || c.Args()[1].Kind() != ast.LiteralKind {
			break
		}
		if name, ok := c.Args()[1].AsLiteral().(types.String); ok {
			return string(name), around
		}
	}
	return "", nil
}
