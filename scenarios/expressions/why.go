package expressions

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
	"sigs.k8s.io/yaml"
)

// Why says why an expression is false, line by line: which of its conditions are false, the values on their two
// sides, the elements of a list for which a condition is false, and missing or surplus elements of a list. It returns
// "" if there is nothing to add.
func (e *Evaluator) Why(expression string, vars Variables) string {
	w, conditions := e.conditions(expression, vars)
	var lines []string
	for _, condition := range conditions {
		text, ok := w.text(condition)
		if holds, err := e.EvalBool(text, vars); !ok || err == nil && holds {
			continue
		}
		if line := w.explain(condition); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Wants returns the value that an expression requires of a part of it: one of its conditions, all of which must be
// true, is part == value. It returns nil if there is no such condition, or if the value uses other variables than vars.
func (e *Evaluator) Wants(expression, part string, vars Variables) any {
	w, conditions := e.conditions(expression, vars)
	for _, condition := range conditions {
		if condition.Kind() != ast.CallKind || condition.AsCall().FunctionName() != operators.Equals {
			continue
		}
		sides := condition.AsCall().Args()
		for i, side := range sides {
			if text, ok := w.text(side); !ok || text != part {
				continue
			}
			if value, known := w.value(sides[1-i]); known {
				return value
			}
		}
	}
	return nil
}

// conditions returns the conditions of an expression, all of which must be true; none if it is not valid.
func (e *Evaluator) conditions(expression string, vars Variables) (*why, []ast.Expr) {
	env, err := e.cache.environment()
	if err == nil {
		env, err = env.Extend(cel.EnableMacroCallTracking())
	}
	if err != nil {
		return nil, nil
	}
	parsed, issues := env.Parse(withoutReserved(expression))
	if issues.Err() != nil {
		return nil, nil
	}
	root := parsed.NativeRep()
	return &why{Evaluator: e, vars: vars, info: root.SourceInfo()}, conjuncts(root.Expr())
}

// why explains one expression.
type why struct {
	*Evaluator
	vars Variables
	info *ast.SourceInfo
}

// text returns a part of the expression as text, or false if that is not possible.
func (w *why) text(part ast.Expr) (string, bool) {
	text, err := parser.Unparse(part, w.info)
	return text, err == nil
}

// shown is the text of a part as the author wrote it.
func (w *why) shown(part ast.Expr) string {
	text, _ := w.text(part)
	return strings.ReplaceAll(text, namespaceVariable, "namespace")
}

// value returns the value of a part, or false if it has none.
func (w *why) value(part ast.Expr) (any, bool) {
	text, ok := w.text(part)
	if !ok {
		return nil, false
	}
	value, err := w.Eval(text, w.vars)
	return value, err == nil
}

// conjuncts are the parts that are joined by &&.
func conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var all []ast.Expr
	for _, part := range e.AsCall().Args() {
		all = append(all, conjuncts(part)...)
	}
	return all
}

// explain says why a condition is false.
func (w *why) explain(condition ast.Expr) string {
	if macro, ok := w.info.GetMacroCall(condition.ID()); ok {
		if line := w.explainMacro(macro.AsCall()); line != "" {
			return line
		}
	}
	if condition.Kind() == ast.CallKind {
		if line := w.explainCall(condition.AsCall()); line != "" {
			return line
		}
	}
	text, ok := w.text(condition)
	if !ok {
		return ""
	}
	if _, err := w.EvalBool(text, w.vars); err != nil {
		return fmt.Sprintf("%s: %v", w.shown(condition), err)
	}
	return w.shown(condition) + " is false"
}

var comparisons = map[string]string{
	operators.Equals: "", operators.NotEquals: "anything but ", operators.Less: "less than ",
	operators.LessEquals: "at most ",
	operators.Greater:    "more than ", operators.GreaterEquals: "at least ", operators.In: "one of ",
}

// explainCall describes the two sides of a comparison.
func (w *why) explainCall(call ast.CallExpr) string {
	wish, compares := comparisons[call.FunctionName()]
	if !compares || len(call.Args()) != 2 {
		return ""
	}
	left, right := call.Args()[0], call.Args()[1]
	have, ok1 := w.value(left)
	want, ok2 := w.value(right)
	if !ok1 || !ok2 {
		return ""
	}
	line := fmt.Sprintf("%s is %s, wanted %s%s", w.shown(left), brief(have), wish, brief(want))
	one, isList := have.([]any)
	other, areLists := want.([]any)
	if call.FunctionName() == operators.Equals && isList && areLists {
		line = fmt.Sprintf("%s: %s", w.shown(left), listDifference(one, other))
	}
	if left.Kind() == ast.CallKind && left.AsCall().FunctionName() == "size" {
		line += w.elements(left.AsCall())
	}
	return line
}

// elements names the elements that a size counts.
func (w *why) elements(size ast.CallExpr) string {
	counted := size.Target()
	if !size.IsMemberFunction() && len(size.Args()) == 1 {
		counted = size.Args()[0]
	}
	list, ok := w.value(counted)
	if items, isList := list.([]any); ok && isList && len(items) > 0 {
		return ": " + strings.Join(namesOf(items), ", ")
	}
	return ""
}

// explainMacro names the elements of a list for which a condition is false.
func (w *why) explainMacro(call ast.CallExpr) string {
	if !call.IsMemberFunction() || len(call.Args()) != 2 || call.Args()[0].Kind() != ast.IdentKind {
		return ""
	}
	list, ok := w.text(call.Target())
	value, known := w.value(call.Target())
	items, isList := value.([]any)
	if !ok || !known || !isList {
		return ""
	}
	variable := call.Args()[0].AsIdent()
	switch call.FunctionName() {
	case operators.All:
		return w.explainAll(list, variable, call.Args()[1], len(items))
	case operators.ExistsOne:
		return w.explainOne(call, list, items)
	case operators.Exists:
		return w.explainNone(call, items)
	}
	return ""
}

// explainOne says that no element of a list fulfills a condition, or names the elements if there are several.
func (w *why) explainOne(call ast.CallExpr, list string, items []any) string {
	text, ok := w.text(call.Args()[1])
	matching, err := w.Eval(fmt.Sprintf("%s.filter(%s, %s)", list, call.Args()[0].AsIdent(), text), w.vars)
	found, isList := matching.([]any)
	switch {
	case !ok || err != nil || !isList:
		return ""
	case len(found) == 0:
		return w.explainNone(call, items)
	}
	return fmt.Sprintf("%d of %d elements of %s with %s, wanted exactly one: %s", len(found), len(items),
		w.shown(call.Target()), w.shown(call.Args()[1]), strings.Join(namesOf(found), ", "))
}

func (w *why) explainNone(call ast.CallExpr, items []any) string {
	return fmt.Sprintf("%s of %s: wanted one with %s", count(len(items)), w.shown(call.Target()),
		w.shown(call.Args()[1])) + listed(namesOf(items))
}

func count(n int) string {
	if n == 0 {
		return "there is no element"
	}
	return fmt.Sprintf("none of the %d elements", n)
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; there are: " + strings.Join(names, ", ")
}

// explainAll names, for each condition, the elements for which it is false, and the values that they have instead.
func (w *why) explainAll(list, variable string, body ast.Expr, total int) string {
	var lines []string
	for _, condition := range conjuncts(body) {
		text, ok := w.text(condition)
		if !ok {
			return ""
		}
		failing, err := w.Eval(fmt.Sprintf("%s.filter(%s, !(%s))", list, variable, text), w.vars)
		if err != nil {
			lines = append(lines, fmt.Sprintf("%s: %v", w.shown(condition), err))
			continue
		}
		items, _ := failing.([]any)
		if len(items) == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("%d of %d without %s: %s", len(items), total, w.shown(condition),
			strings.Join(w.instead(fmt.Sprintf("%s.filter(%s, !(%s))", list, variable, text), variable, condition, items),
				", ")))
	}
	return strings.Join(lines, "\n")
}

// instead names elements for which a comparison is false, each with its value.
func (w *why) instead(list, variable string, condition ast.Expr, items []any) []string {
	names := namesOf(items)
	if condition.Kind() != ast.CallKind || len(condition.AsCall().Args()) != 2 {
		return names
	}
	if _, compares := comparisons[condition.AsCall().FunctionName()]; !compares {
		return names
	}
	left, ok := w.text(condition.AsCall().Args()[0])
	values, err := w.Eval(fmt.Sprintf("%s.map(%s, %s)", list, variable, left), w.vars)
	have, isList := values.([]any)
	if !ok || err != nil || !isList || len(have) != len(items) {
		return names
	}
	for i := range names {
		names[i] += " has " + brief(have[i])
	}
	return names
}

// listDifference names the missing and the surplus elements.
func listDifference(have, want []any) string {
	missing, extra := without(want, have), without(have, want)
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "missing "+strings.Join(briefly(missing), ", "))
	}
	if len(extra) > 0 {
		parts = append(parts, "too many "+strings.Join(briefly(extra), ", "))
	}
	if len(parts) == 0 {
		parts = append(parts, "in another order than wanted")
	}
	return fmt.Sprintf("%s; it is %s", strings.Join(parts, ", "), brief(have))
}

// without returns the elements of a list that remain after each element of another list was removed once.
func without(list, other []any) []any {
	left := slices.Clone(list)
	for _, item := range other {
		if i := slices.IndexFunc(left, func(have any) bool { return reflect.DeepEqual(have, item) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return left
}

// namesOf returns the names of objects. Values that are not objects are shown themselves.
func namesOf(items []any) []string {
	var names []string
	for _, item := range items {
		object, _ := item.(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		if name, ok := metadata["name"].(string); ok {
			names = append(names, name)
			continue
		}
		names = append(names, brief(item))
	}
	return names
}

func briefly(items []any) []string {
	var all []string
	for _, item := range items {
		all = append(all, brief(item))
	}
	return all
}

// brief is a value in one line, cut if it is long.
func brief(value any) string {
	const most = 300
	data, err := yaml.Marshal(value)
	if err == nil {
		data, err = yaml.YAMLToJSON(data)
	}
	text := string(data)
	if err != nil {
		text = fmt.Sprint(value)
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
