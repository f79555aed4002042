package expressions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// chain is a part of a variable that an expression needs: outputs.made.metadata.name. Steps are names (string) and
// indexes in lists (int64).
type chain struct {
	variable string
	steps    []any
}

// String is the chain as CEL.
func (c chain) String() string {
	text := c.variable
	for _, step := range c.steps {
		if name, ok := step.(string); ok {
			text += "." + name
		} else {
			text += fmt.Sprintf("[%d]", step)
		}
	}
	return text
}

// fixedOf lists the parts that an expression needs of those variables that are the same for all objects.
func fixedOf(checked *cel.Ast) []chain {
	var all []chain
	for _, ident := range ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		c := chain{variable: strings.TrimPrefix(ident.AsIdent(), ".")}
		if !slices.Contains([]string{"outputs", "case", "loads", "scenario"}, c.variable) || defined(ident) {
			continue
		}
		for at := ident; ; {
			step, around := needed(at)
			if around == nil {
				break
			}
			c.steps, at = append(c.steps, step), around
		}
		if len(c.steps) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// needed returns the name or the index that the expression around another one selects from it, and the expression
// around it. It is nil if it selects nothing, or only asks whether the part exists.
func needed(from ast.NavigableExpr) (step any, whole ast.NavigableExpr) {
	around, ok := from.Parent()
	switch {
	case !ok:
	case around.Kind() == ast.SelectKind:
		if s := around.AsSelect(); !s.IsTestOnly() {
			return s.FieldName(), around
		}
	case around.Kind() == ast.CallKind:
		c := around.AsCall()
		if c.FunctionName() != "_[_]" || len(c.Args()) != 2 || c.Args()[0].ID() != from.ID() ||
			c.Args()[1].Kind() != ast.LiteralKind {
			break
		}
		switch literal := c.Args()[1].AsLiteral().(type) {
		case types.String:
			return string(literal), around
		case types.Int:
			return int64(literal), around
		}
	}
	return nil, nil
}

// missingIn returns the step of the chain that the variable lacks; nil if it lacks none.
func (c chain) missingIn(vars map[string]any) any {
	value, known := vars[c.variable]
	if !known {
		return nil
	}
	for _, step := range c.steps {
		switch at := value.(type) {
		case map[string]any:
			name, _ := step.(string)
			inner, has := at[name]
			if !has {
				return step
			}
			value = inner
		case []any:
			i, ok := step.(int64)
			if !ok || i < 0 || i >= int64(len(at)) {
				return step
			}
			value = at[i]
		default:
			return nil // it is not a container of this kind, which is another error
		}
	}
	return nil
}

// ofFixed returns an error that names the part of a variable whose absence is the error: it is missing for all objects,
// so no object can match. It returns the error itself if an object lacks something.
func (c *Checked) ofFixed(missing *MissingError, vars map[string]any) error {
	for _, part := range c.fixed {
		step := part.missingIn(vars)
		if step != nil && (missing.What == fmt.Sprintf("no such key: %v", step) ||
			missing.What == fmt.Sprintf("index out of bounds: %v", step)) {
			return fmt.Errorf("%s: %s does not exist", missing.What, part)
		}
	}
	return missing
}
