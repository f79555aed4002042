package features

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
)

// source is a Go file that declares feature gates.
type source struct {
	path string
	file *ast.File
	// names of the gates, by their constants.
	names map[string]string
}

func parseSource(module fs.FS, path string) (*source, error) {
	data, err := fs.ReadFile(module, path)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, file: file, names: map[string]string{}}
	s.each(token.CONST, func(spec *ast.ValueSpec) {
		for i, name := range spec.Names {
			if i >= len(spec.Values) || nameOf(spec.Type) != "Feature" {
				continue
			}
			if text, ok := stringOf(spec.Values[i]); ok {
				s.names[name.Name] = text
			}
		}
	})
	if len(s.names) == 0 {
		return nil, fmt.Errorf("%s declares no feature gates", path)
	}
	return s, nil
}

// each visits every constant or variable of the file.
func (s *source) each(kind token.Token, visit func(*ast.ValueSpec)) {
	for _, d := range s.file.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok || general.Tok != kind {
			continue
		}
		for _, spec := range general.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				visit(value)
			}
		}
	}
}

// maps returns the elements of every map literal with the key type Feature and a wanted value type.
func (s *source) maps(wanted func(ast.Expr) bool) []*ast.KeyValueExpr {
	var elements []*ast.KeyValueExpr
	s.each(token.VAR, func(spec *ast.ValueSpec) {
		for _, value := range spec.Values {
			literal, ok := value.(*ast.CompositeLit)
			if !ok {
				continue
			}
			t, ok := literal.Type.(*ast.MapType)
			if !ok || nameOf(t.Key) != "Feature" || !wanted(t.Value) {
				continue
			}
			for _, e := range literal.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					elements = append(elements, pair)
				}
			}
		}
	})
	return elements
}

// needs reads the map from each gate to the gates that it depends on: map[Feature][]Feature.
func (s *source) needs() (map[string][]string, error) {
	found := map[string][]string{}
	lists := func(t ast.Expr) bool {
		array, ok := t.(*ast.ArrayType)
		return ok && nameOf(array.Elt) == "Feature"
	}
	for _, pair := range s.maps(lists) {
		gate, literal := s.gateOf(pair.Key), literalOf(pair.Value)
		if gate == "" || literal == nil {
			return nil, fmt.Errorf("%s: a dependency of feature gates has an unknown syntax", s.path)
		}
		for _, e := range literal.Elts {
			needed := s.gateOf(e)
			if needed == "" {
				return nil, fmt.Errorf("%s: a dependency of %s has an unknown syntax", s.path, gate)
			}
			found[gate] = append(found[gate], needed)
		}
		slices.Sort(found[gate])
	}
	return found, nil
}

// gates reads the gates themselves: map[Feature]VersionedSpecs, or map[Feature]FeatureSpec as in client-go before
// 1.35.
func (s *source) gates() (map[string]Gate, error) {
	found := map[string]Gate{}
	for _, pair := range s.maps(func(t ast.Expr) bool {
		return nameOf(t) == "VersionedSpecs" ||
			nameOf(t) == "FeatureSpec"
	}) {
		gate, literal := s.gateOf(pair.Key), literalOf(pair.Value)
		if gate == "" || literal == nil {
			return nil, fmt.Errorf("%s: a feature gate has an unknown syntax", s.path)
		}
		specs := []*ast.CompositeLit{literal}
		if len(literal.Elts) > 0 && literalOf(literal.Elts[0]) != nil {
			specs = specs[:0]
			for _, e := range literal.Elts {
				specs = append(specs, literalOf(e))
			}
		}
		var read []Spec
		for _, literal := range specs {
			spec, err := specOf(literal)
			if err != nil {
				return nil, fmt.Errorf("%s: feature gate %s: %w", s.path, gate, err)
			}
			read = append(read, spec)
		}
		read, err := sorted(read)
		if err != nil {
			return nil, fmt.Errorf("%s: feature gate %s: %w", s.path, gate, err)
		}
		found[gate] = Gate{Specs: read}
	}
	for _, name := range s.names {
		if _, specified := found[name]; !specified {
			return nil, fmt.Errorf("%s: feature gate %s has no spec", s.path, name)
		}
	}
	return found, nil
}

// specOf reads {Version: version.MustParse("1.36"), Default: true, PreRelease: Beta, LockToDefault: true,
// MinCompatibilityVersion: version.MustParse("1.36")}.
func specOf(literal *ast.CompositeLit) (Spec, error) {
	spec := Spec{Since: "0.0"}
	if literal == nil {
		return spec, fmt.Errorf("a spec is not a literal")
	}
	for _, e := range literal.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return spec, fmt.Errorf("a spec has a field without a name")
		}
		var err error
		switch field := nameOf(pair.Key); field {
		case "Default":
			spec.Default, err = boolOf(field, pair.Value)
		case "LockToDefault":
			spec.Locked, err = boolOf(field, pair.Value)
		case "PreRelease":
			spec.Stage = Stage(nameOf(pair.Value))
		case "Version":
			spec.Since, err = versionIn(field, pair.Value)
		case "MinCompatibilityVersion":
			spec.MinCompatibility, err = versionIn(field, pair.Value)
		}
		if err != nil {
			return spec, err
		}
	}
	return newSpec(spec)
}

func boolOf(field string, e ast.Expr) (bool, error) {
	value, err := strconv.ParseBool(nameOf(e))
	if err != nil {
		return false, fmt.Errorf("%s is neither true nor false", field)
	}
	return value, nil
}

// versionIn returns the text in version.MustParse("1.36").
func versionIn(field string, e ast.Expr) (string, error) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", fmt.Errorf("%s has an unknown syntax", field)
	}
	text, ok := stringOf(call.Args[0])
	if !ok {
		return "", fmt.Errorf("%s is no string", field)
	}
	return text, nil
}

// gateOf returns the name of the gate that an expression means: a constant of this file, or one of another package,
// whose constants have the names of their gates. Both may be converted: featuregate.Feature(clientfeatures.X). It
// returns "" for anything else.
func (s *source) gateOf(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && nameOf(call.Fun) == "Feature" {
		e = call.Args[0]
	}
	constant := nameOf(e)
	if name, here := s.names[constant]; here {
		if _, local := e.(*ast.Ident); local {
			return name
		}
	}
	return constant
}

// nameOf returns the last name in X or pkg.X, or "".
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func literalOf(e ast.Expr) *ast.CompositeLit {
	literal, _ := e.(*ast.CompositeLit)
	return literal
}

func stringOf(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}
