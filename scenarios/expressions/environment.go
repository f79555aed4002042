package expressions

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Variables are the values that an expression may use, by name: namespace, scenario, case, outputs, object, before,
// objects, answers, value, delta, stdout, stderr, index, loads. Values are JSON values, also of named types. A
// variable that is left out is unknown.
type Variables map[string]any

// The libraries are those of the API server's policies at this version. The cost limit is ten times theirs: an
// assertion may check every object of a large cluster.
const (
	celVersion       = "1.37"
	celCostLimit     = 10_000_000
	celCheckInterval = 1000 // steps of a comprehension between two checks of the context
)

// variableTypes lists the variables with their types. What comes from the cluster or from YAML is dynamic.
func variableTypes() map[string]*cel.Type {
	texts := cel.MapType(cel.StringType, cel.StringType)
	values := cel.MapType(cel.StringType, cel.DynType)
	return map[string]*cel.Type{
		"namespace": cel.StringType,
		"scenario":  texts,
		"case":      values,
		"outputs":   values,
		"object":    cel.DynType,
		"before":    cel.DynType,
		"objects":   cel.ListType(cel.DynType),
		"answers":   cel.ListType(cel.DynType),
		"value":     cel.DoubleType,
		"delta":     cel.DoubleType,
		"stdout":    cel.StringType,
		"stderr":    cel.StringType,
		"index":     cel.IntType,
		"loads":     values,
	}
}

// newEnvironment returns Kubernetes' environment for the expressions of policies, with the variables of scenarios.
func newEnvironment() (*cel.Env, error) {
	base := environment.MustBaseEnvSet(version.MustParseGeneric(celVersion)).StoredExpressionsEnv()
	var options []cel.EnvOption
	for name, typ := range variableTypes() {
		options = append(options, cel.Variable(withoutReserved(name), typ))
	}
	env, err := base.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("making the environment of the expressions: %w", err)
	}
	return env, nil
}

var plainMaps = reflect.TypeFor[map[string]any]()

// activation returns the variables by their names in CEL.
func (v Variables) activation() (map[string]any, error) {
	known := variableTypes()
	values := make(map[string]any, len(v))
	for name, value := range v {
		if known[name] == nil {
			return nil, fmt.Errorf("expressions have no variable %q", name)
		}
		if typ := reflect.TypeOf(value); typ != plainMaps && typ != nil && typ.ConvertibleTo(plainMaps) {
			value = reflect.ValueOf(value).Convert(plainMaps).Interface() // an object has its own type
		}
		values[withoutReserved(name)] = value
	}
	return values, nil
}
