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
	if ident, fields := selection(e); ident != nil {
		w.use(ident, fields, s)
		return
	}
	switch e.Kind() {
	case ast.SelectKind:
		w.walk(e.AsSelect().Operand(), s)
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

func (w *useWalker) call(c ast.CallExpr, s *scope) {
	if c.IsMemberFunction() {
		w.walk(c.Target(), s)
	}
	for _, arg := range c.Args() {
		w.walk(arg, s)
	}
}

// selection returns the variable from which an expression selects fields, and their names. It treats outputs["x"],
// outputs[?"x"] and outputs.?x as outputs.x. For any other expression, it returns nil.
func selection(e ast.Expr) (ident ast.Expr, fields []string) {
	field := ""
	var operand ast.Expr
	switch e.Kind() {
	case ast.IdentKind:
		return e, nil
	case ast.SelectKind:
		operand, field = e.AsSelect().Operand(), e.AsSelect().FieldName()
	case ast.CallKind:
		c := e.AsCall()
		if !slices.Contains([]string{"_[_]", "_[?_]", "_?._"}, c.FunctionName()) || len(c.Args()) != 2 ||
			c.Args()[1].Kind() != ast.LiteralKind {
			return nil, nil
		}
		name, ok := c.Args()[1].AsLiteral().(types.String)
		if !ok {
			return nil, nil
		}
		operand, field = c.Args()[0], string(name)
	default:
		return nil, nil
	}
	if ident, fields = selection(operand); ident == nil {
		return nil, nil
	}
	return ident, append(fields, field)
}

func (w *useWalker) use(ident ast.Expr, fields []string, s *scope) {
	name := strings.TrimPrefix(ident.AsIdent(), ".")
	if !w.known[name] || s.has(ident.AsIdent()) {
		return
	}
	if name == namespaceVariable {
		name = "namespace"
	}
	location := w.info.GetStartLocation(ident.ID())
	u := Use{Variable: name, Line: max(location.Line(), 1), Column: max(location.Column(), 0)}
	if len(fields) > 0 {
		u.Field = fields[0]
	}
	if len(fields) > 1 {
		u.Inner = fields[1]
	}
	w.uses = append(w.uses, u)
}
