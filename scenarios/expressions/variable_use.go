package expressions

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// Use is one mention of a variable in an expression; line counts from 1, column from 0.
type Use struct {
	Variable string
	// Field that is selected from it, "" if there is none or it is computed.
	Field        string
	Line, Column int
}

// usesOf lists the variables that an expression mentions, without those that it defines itself.
func usesOf(checked *cel.Ast) []Use {
	native := checked.NativeRep()
	w := &useWalker{info: native.SourceInfo(), known: map[string]bool{}}
	for name := range variableTypes() {
		w.known[withoutReserved(name)] = true
	}
	w.walk(native.Expr(), nil)
	return w.uses
}

type useWalker struct {
	info  *ast.SourceInfo
	known map[string]bool
	uses  []Use
}

// scope is a chain of variables that comprehensions define.
type scope struct {
	names  []string
	parent *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.parent {
		for _, n := range s.names {
			if n == name {
				return true
			}
		}
	}
	return false
}

func (w *useWalker) walk(e ast.Expr, s *scope) {
	switch e.Kind() {
	case ast.IdentKind:
		w.use(e, "", s)
	case ast.SelectKind:
		operand := e.AsSelect().Operand()
		if operand.Kind() == ast.IdentKind {
			w.use(operand, e.AsSelect().FieldName(), s)
			return
		}
		w.walk(operand, s)
	case ast.CallKind:
		w.call(e.AsCall(), s)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			w.walk(item, s)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.walk(entry.AsMapEntry().Key(), s)
			w.walk(entry.AsMapEntry().Value(), s)
		}
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			w.walk(f.AsStructField().Value(), s)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		w.walk(c.IterRange(), s)
		w.walk(c.AccuInit(), s)
		inner := &scope{names: []string{c.IterVar(), c.IterVar2(), c.AccuVar()}, parent: s}
		w.walk(c.LoopCondition(), inner)
		w.walk(c.LoopStep(), inner)
		w.walk(c.Result(), &scope{names: []string{c.AccuVar()}, parent: s})
	}
}

// call treats outputs["x"], outputs[?"x"] and outputs.?x as outputs.x.
func (w *useWalker) call(c ast.CallExpr, s *scope) {
	args := c.Args()
	if c.IsMemberFunction() {
		w.walk(c.Target(), s)
	}
	switch c.FunctionName() {
	case "_[_]", "_[?_]", "_?._":
		if len(args) == 2 && args[0].Kind() == ast.IdentKind && args[1].Kind() == ast.LiteralKind {
			if name, ok := args[1].AsLiteral().(types.String); ok {
				w.use(args[0], string(name), s)
				return
			}
		}
	}
	for _, arg := range args {
		w.walk(arg, s)
	}
}

func (w *useWalker) use(ident ast.Expr, field string, s *scope) {
	name := strings.TrimPrefix(ident.AsIdent(), ".")
	if !w.known[name] || s.has(ident.AsIdent()) {
		return
	}
	if name == namespaceVariable {
		name = "namespace"
	}
	location := w.info.GetStartLocation(ident.ID())
	w.uses = append(w.uses, Use{Variable: name, Field: field, Line: max(location.Line(), 1), Column: max(location.Column(),
		0)})
}
