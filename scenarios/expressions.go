package scenarios

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
)

// Expressions compiles and evaluates CEL. What it has compiled it keeps. It is safe for concurrent use.
type Expressions struct {
	ctx   context.Context
	cache *expressionCache
}

type expressionCache struct {
	environment func() (*cel.Env, error)
	costLimit   uint64
	compiled    sync.Map // the expression's text -> *compiled
}

// compiled is an expression that was compiled, or the mistakes in it.
type compiled struct {
	program  cel.Program
	typ      *cel.Type
	uses     []use
	fields   []FieldUse
	mistakes []mistake
	err      error // neither the expression's fault nor its author's
}

// mistake is what is wrong in an expression; line counts from 1, column from 0.
type mistake struct {
	line, column  int
	message, hint string
}

// NewExpressions returns an empty set of expressions.
func NewExpressions() *Expressions {
	return &Expressions{ctx: context.Background(), cache: &expressionCache{
		environment: sync.OnceValues(newEnvironment), costLimit: celCostLimit,
	}}
}

// WithContext returns the same expressions, whose evaluation ends when the context does.
func (e *Expressions) WithContext(ctx context.Context) *Expressions {
	return &Expressions{ctx: ctx, cache: e.cache}
}

// Eval evaluates an expression to a plain value: map[string]any, []any, string, int64, float64, bool or nil.
func (e *Expressions) Eval(expression string, vars Variables) (any, error) {
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
		return nil, evaluationError(err)
	}
	return plainValue(value)
}

// EvalBool evaluates an expression that must be true or false.
func (e *Expressions) EvalBool(expression string, vars Variables) (bool, error) {
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

// compiled returns the expression ready to run, or why it cannot be.
func (e *Expressions) compiled(expression string) (*compiled, error) {
	c := e.cache.get(expression)
	if c.err != nil {
		return nil, c.err
	}
	var errs []error
	for _, m := range c.mistakes {
		errs = append(errs, fmt.Errorf("line %d, column %d of the expression: %s", m.line, m.column+1, m.message))
	}
	return c, errors.Join(errs...)
}

func (c *expressionCache) get(expression string) *compiled {
	if known, ok := c.compiled.Load(expression); ok {
		return known.(*compiled)
	}
	stored, _ := c.compiled.LoadOrStore(expression, c.compile(expression))
	return stored.(*compiled)
}

func (c *expressionCache) compile(expression string) *compiled {
	env, err := c.environment()
	if err != nil {
		return &compiled{err: err}
	}
	ast, issues := env.Compile(withoutReserved(expression))
	if issues.Err() != nil {
		result := &compiled{}
		for i, issue := range issues.Errors() {
			if i > 0 && strings.HasPrefix(issue.Message, "Syntax error:") {
				break // what follows is only the parser's confusion
			}
			m := mistake{line: max(issue.Location.Line(), 1), column: max(issue.Location.Column(), 0)}
			m.message, m.hint = explain(env, issue.Message)
			result.mistakes = append(result.mistakes, m)
		}
		return result
	}
	program, err := env.Program(ast, cel.CostLimit(c.costLimit), cel.InterruptCheckFrequency(celCheckInterval))
	if err != nil { // a constant part that cannot be evaluated
		return &compiled{mistakes: []mistake{{line: 1, message: evaluationError(err).Error()}}}
	}
	return &compiled{
		program: program, typ: ast.OutputType(), uses: usesOf(ast),
		fields: fieldsOfExpression(ast.NativeRep().Expr()),
	}
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)' \(in container ''\)$`)
	overload   = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
)

// explain puts the compiler's words plainly.
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
		return fmt.Sprintf("nothing is called %q in expressions", m[1]), suggest(m[1], names, "")
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
			hint = "something is missing at its end; if it stands inside of {...}, put it in quotes, since YAML ends it at a " +
				"comma"
		}
		syntax, _, _ = strings.Cut(syntax, " expecting {")
		return "not a CEL expression: " + syntax, hint
	}
	return message, ""
}

// MissingError says that an expression has no value because something in it is not there: a field, an item of a list.
type MissingError struct{ What string }

// Error names what is not there.
func (e *MissingError) Error() string { return e.What }

// evaluationError says plainly why an expression has no value.
func evaluationError(err error) error {
	message := strings.ReplaceAll(err.Error(), namespaceVariable, "namespace")
	if strings.Contains(message, "cost limit exceeded") {
		return fmt.Errorf("the expression costs more than it may: %w", err)
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
