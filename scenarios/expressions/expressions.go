// Package expressions compiles and evaluates CEL, and expands ${...} in strings.
package expressions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
)

// Evaluator compiles and evaluates CEL. It caches what it has compiled. It is safe for concurrent use.
type Evaluator struct {
	ctx   context.Context
	cache *expressionCache
}

type expressionCache struct {
	environment func() (*cel.Env, error)
	costLimit   uint64
	compiled    sync.Map // the expression's text -> *Checked
}

// Checked is a compiled expression, or the mistakes in it.
type Checked struct {
	program  cel.Program
	Type     *cel.Type
	Uses     []Use
	fields   []fieldpath.Use
	fixed    []chain
	Mistakes []Mistake
	Err      error // an error that is not a mistake in the expression
}

// Mistake is what is wrong in an expression; line counts from 1, column from 0.
type Mistake struct {
	Line, Column  int
	Message, Hint string
}

// New returns an evaluator with an empty cache.
func New() *Evaluator {
	return &Evaluator{ctx: context.Background(), cache: &expressionCache{
		environment: sync.OnceValues(newEnvironment), costLimit: celCostLimit,
	}}
}

// WithContext returns an evaluator with the same cache, whose evaluations end when the context does.
func (e *Evaluator) WithContext(ctx context.Context) *Evaluator {
	return &Evaluator{ctx: ctx, cache: e.cache}
}

// Check returns what is known of an expression without evaluating it.
func (e *Evaluator) Check(expression string) *Checked { return e.cache.get(expression) }

// Eval evaluates an expression to a plain value: map[string]any, []any, string, int64, float64, bool or nil.
func (e *Evaluator) Eval(expression string, vars Variables) (any, error) {
	c, err := e.compiled(expression)
	if err != nil {
		return nil, err
	}
	activation, err := vars.activation()
	if err != nil {
		return nil, err
	}
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	value, _, err := c.program.ContextEval(e.ctx, activation)
	if err != nil {
		if stopped := e.ctx.Err(); stopped != nil {
			err = errors.Join(stopped, err)
		}
		err = evaluationError(err)
		if missing := (*MissingError)(nil); errors.As(err, &missing) {
			err = c.ofFixed(missing, activation)
		}
		return nil, err
	}
	return plainValue(value)
}

// EvalBool evaluates an expression that must be true or false.
func (e *Evaluator) EvalBool(expression string, vars Variables) (bool, error) {
	value, err := e.Eval(expression, vars)
	if err != nil {
		return false, err
	}
	holds, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("want true or false, got %T: %v", value, value)
	}
	return holds, nil
}

// compiled returns the expression ready to run, or why it cannot run.
func (e *Evaluator) compiled(expression string) (*Checked, error) {
	c := e.cache.get(expression)
	if c.Err != nil {
		return nil, c.Err
	}
	var errs []error
	for _, m := range c.Mistakes {
		errs = append(errs, fmt.Errorf("line %d, column %d of the expression: %s", m.Line, m.Column+1, m.Message))
	}
	return c, errors.Join(errs...)
}

func (c *expressionCache) get(expression string) *Checked {
	if known, ok := c.compiled.Load(expression); ok {
		return known.(*Checked)
	}
	stored, _ := c.compiled.LoadOrStore(expression, c.compile(expression))
	return stored.(*Checked)
}

func (c *expressionCache) compile(expression string) *Checked {
	env, err := c.environment()
	if err != nil {
		return &Checked{Err: err}
	}
	ast, issues := env.Compile(withoutReserved(expression))
	if issues.Err() != nil {
		result := &Checked{}
		for i, issue := range issues.Errors() {
			if i > 0 && strings.HasPrefix(issue.Message, "Syntax error:") {
				break // later syntax errors are only consequences of the first mistake
			}
			m := Mistake{Line: max(issue.Location.Line(), 1), Column: max(issue.Location.Column(), 0)}
			m.Message, m.Hint = explain(env, issue.Message)
			result.Mistakes = append(result.Mistakes, m)
		}
		return result
	}
	program, err := env.Program(ast, cel.CostLimit(c.costLimit), cel.InterruptCheckFrequency(celCheckInterval))
	if err != nil { // a constant part that cannot be evaluated
		return &Checked{Mistakes: []Mistake{{Line: 1, Message: evaluationError(err).Error()}}}
	}
	return &Checked{
		program: program, Type: ast.OutputType(), Uses: usesOf(ast),
		fields: fieldsOfExpression(ast.NativeRep().Expr()), fixed: fixedOf(ast),
	}
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)' \(in container ''\)$`)
	overload   = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
)

// explain puts the compiler's message into plain words.
func explain(env *cel.Env, message string) (plain, hint string) {
	message = strings.ReplaceAll(message, namespaceVariable, "namespace")
	if m := undeclared.FindStringSubmatch(message); m != nil {
		var names []string
		for name := range env.Functions() {
			if isLetter(name[0]) && !strings.HasPrefix(name, "__") {
				names = append(names, name)
			}
		}
		for name := range variableTypes() {
			names = append(names, name)
		}
		return fmt.Sprintf("expressions have no %q", m[1]), words.Suggest(m[1], names, "")
	}
	if m := overload.FindStringSubmatch(message); m != nil {
		if strings.Contains(m[2], "double") && strings.Contains(m[2], "int") {
			hint = "value and delta are doubles: write 3.0, not 3"
		}
		return fmt.Sprintf("%s does not take %s", strings.Trim(m[1], "_"), m[2]), hint
	}
	if syntax, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		if strings.HasPrefix(syntax, "token recognition error at: '=") {
			hint = "compare with =="
		}
		if strings.HasSuffix(syntax, "'<EOF>'") {
			hint = "something is missing at its end; inside {...}, put it in quotes, because YAML ends it at a comma"
		}
		syntax, _, _ = strings.Cut(syntax, " expecting {")
		return "not a CEL expression: " + syntax, hint
	}
	return message, ""
}

// MissingError means that an expression has no value because something in it does not exist: a field, an item of a
// list. It is not about what is the same for all objects, such as outputs.
type MissingError struct{ What string }

// Error names what is missing.
func (e *MissingError) Error() string { return e.What }

// evaluationError says in plain words why an expression has no value.
func evaluationError(err error) error {
	message := strings.ReplaceAll(err.Error(), namespaceVariable, "namespace")
	if strings.Contains(message, "cost limit exceeded") {
		return fmt.Errorf("the expression exceeds the cost limit: %w", err)
	}
	if strings.HasPrefix(message, "no such key: ") || strings.HasPrefix(message, "index out of bounds: ") ||
		message == "optional.none() dereference" {
		return &MissingError{message}
	}
	if message != err.Error() {
		return errors.New(message)
	}
	return err
}
