package expressions

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// Fields lists the fields of object, before and each of objects that an expression uses, as far as they are known
// without evaluating it.
func (e *Evaluator) Fields(expression string) ([]fieldpath.Use, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, nil
	}
	c, err := e.compiled(expression)
	if err != nil {
		return nil, err
	}
	return c.fields, nil
}

// fieldsOfExpression lists the fields that an expression uses. All fields below an optional field are optional.
func fieldsOfExpression(root ast.Expr) []fieldpath.Use {
	w := &fieldWalker{needed: true}
	w.whole(root, places{
		"object": {known: true}, "before": {known: true},
		"objects": {known: true, list: true},
	})
	for i := range w.found {
		for _, other := range w.found {
			below := len(w.found[i].Path) >= len(other.Path) && slices.Equal(w.found[i].Path[:len(other.Path)], other.Path)
			w.found[i].Optional = w.found[i].Optional || other.Optional && below
		}
	}
	return w.found
}

// place is where in an object the value of an expression is, if that is known.
type place struct {
	known bool
	// list: it is the list of all objects, not a part of one.
	list     bool
	path     []string
	optional bool
}

// places are the variables whose values are parts of objects.
type places map[string]place

func (p places) with(name string, at place) places {
	inner := maps.Clone(p)
	inner[name] = at
	return inner
}

func (p place) field(name string, optional bool) place {
	switch {
	case !p.known || strings.Contains(name, "__"): // a name that CEL writes differently
		return place{}
	case p.list:
		if name == fieldpath.AnyItem {
			return place{known: true}
		}
		return place{}
	}
	return place{known: true, path: append(append([]string{}, p.path...), name), optional: p.optional || optional}
}

// fieldWalker records the fields that must exist for the expression to be true. Parts that need not be evaluated (a
// branch, one side of ||) may use fields of other versions.
type fieldWalker struct {
	found []fieldpath.Use
	// needed: both sides of && must be true. muted: the part need not be evaluated.
	needed, muted bool
}

// in walks parts of an expression with other settings.
func (w *fieldWalker) in(needed, muted bool, vars places, parts ...ast.Expr) {
	before := *w
	w.needed, w.muted = needed, w.muted || muted
	for _, part := range parts {
		w.whole(part, vars)
	}
	w.needed, w.muted = before.needed, before.muted
}

// whole walks an expression, and records the field that it refers to.
func (w *fieldWalker) whole(e ast.Expr, vars places) {
	w.note(w.walk(e, vars))
}

func (w *fieldWalker) note(at place) {
	if at.known && len(at.path) > 0 && !w.muted && (w.needed || !at.optional) {
		w.found = append(w.found, fieldpath.Use{Path: at.path, Optional: at.optional})
	}
}

// walk returns where the value of an expression is, and records the fields that its other parts use.
func (w *fieldWalker) walk(e ast.Expr, vars places) place {
	switch e.Kind() {
	case ast.IdentKind:
		return vars[strings.TrimPrefix(e.AsIdent(), ".")]
	case ast.SelectKind:
		s := e.AsSelect()
		return w.walk(s.Operand(), vars).field(s.FieldName(), s.IsTestOnly())
	case ast.CallKind:
		return w.call(e.AsCall(), vars)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			w.whole(item, vars)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.whole(entry.AsMapEntry().Key(), vars)
			w.whole(entry.AsMapEntry().Value(), vars)
		}
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			w.whole(f.AsStructField().Value(), vars)
		}
	case ast.ComprehensionKind:
		w.comprehension(e.AsComprehension(), vars)
	}
	return place{}
}

func (w *fieldWalker) call(c ast.CallExpr, vars places) place {
	args := c.Args()
	if len(args) == 2 {
		switch name := c.FunctionName(); name {
		case "_[_]", "_[?_]", "_?._":
			step := fieldpath.AnyItem
			if args[1].Kind() == ast.LiteralKind {
				if text, ok := args[1].AsLiteral().(types.String); ok {
					step = string(text)
				}
			} else {
				w.whole(args[1], vars)
			}
			return w.walk(args[0], vars).field(step, name != "_[_]")
		}
	}
	switch name := c.FunctionName(); name {
	case "_?_:_":
		w.in(false, false, vars, args[0])
		w.in(false, true, vars, args[1:]...)
		return place{}
	case "_&&_", "_||_":
		folds := slices.ContainsFunc(args, isResult) // part of exists or all: evaluated unless the list is empty
		w.in(w.needed, !folds && (name == "_||_" || !w.needed), vars, args...)
		return place{}
	}
	if c.IsMemberFunction() {
		w.in(false, false, vars, c.Target())
	}
	w.in(false, false, vars, args...)
	return place{}
}

// isResult reports whether an expression is the intermediate result of a comprehension.
func isResult(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && strings.HasSuffix(strings.Trim(e.AsIdent(), "_"), "result")
}

func (w *fieldWalker) comprehension(c ast.ComprehensionExpr, vars places) {
	over := w.walk(c.IterRange(), vars)
	w.note(over)
	w.whole(c.AccuInit(), vars)
	inner := vars.with(c.IterVar(), over.field(fieldpath.AnyItem, false)).with(c.AccuVar(), place{})
	if c.HasIterVar2() {
		inner = inner.with(c.IterVar(), place{}).with(c.IterVar2(), over.field(fieldpath.AnyItem, false))
	}
	w.whole(c.LoopCondition(), inner)
	w.whole(c.LoopStep(), inner)
	w.whole(c.Result(), vars.with(c.AccuVar(), place{}))
}
