package reference

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

//go:embed page.md.tmpl
var pageTemplate string

// Page generates the reference page, in Markdown. examples has a scenario for each verb, and those that the page's
// text names.
func Page(comments Comments, examples fs.FS) ([]byte, error) {
	p := page{comments: comments, examples: examples}
	parsed, err := template.New("page").Funcs(template.FuncMap{
		"example": p.example,
		"steps":   p.steps,
		"verbs":   p.verbs,
		"types":   p.types,
		"anchor":  strings.ToLower,
		"prose":   prose,
	}).Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("reading the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, nil); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return b.Bytes(), nil
}

type page struct {
	comments Comments
	examples fs.FS
}

// documentedType is a type with its fields.
type documentedType struct {
	Name, Comment string
	Fields        []documentedField
}

type documentedField struct {
	Name, Type, Comment string
	Required            bool
}

type documentedVerb struct {
	Name, Comment string
	// Fields of the verb's own type. If several verbs share the type, Type is its name instead.
	Fields []documentedField
	Type   string
}

// example returns a whole example.
func (p page) example(name string) (string, error) {
	text, err := fs.ReadFile(p.examples, name+".yaml")
	return strings.TrimSpace(string(text)), err
}

// steps returns the steps of an example, with less indentation.
func (p page) steps(name string) (string, error) {
	text, err := p.example(name)
	if err != nil {
		return "", err
	}
	_, steps, found := strings.Cut(text, "\n  steps:\n")
	if !found {
		return "", fmt.Errorf("the example %s has no steps", name)
	}
	lines := strings.Split(steps, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n"), nil
}

func (p page) verbs() []documentedVerb {
	var all []documentedVerb
	for f := range fields(reflect.TypeFor[scenarios.Step]()) {
		if f.Tag.Get("verb") == "" {
			continue
		}
		verb := documentedVerb{Name: jsonName(f), Comment: p.comments.Of(f.owner, f.Name)}
		switch t := element(f.Type); {
		case t.Kind() != reflect.Struct:
		case own(verb.Name, t):
			verb.Fields = p.fields(t)
		default:
			verb.Type = t.Name()
		}
		all = append(all, verb)
	}
	return all
}

// own reports whether a type belongs to one verb only.
func own(verb string, t reflect.Type) bool { return strings.EqualFold(verb, t.Name()) }

// types lists the types of the language in the order in which they first occur, without those that are described
// under their verb.
func (p page) types() []documentedType {
	var order []reflect.Type
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		t = element(t)
		if t.Kind() != reflect.Struct || slices.Contains(order, t) {
			return
		}
		order = append(order, t)
		for f := range fields(t) {
			visit(f.Type)
		}
	}
	visit(reflect.TypeFor[scenarios.Scenario]())
	var all []documentedType
	for _, t := range order {
		if slices.ContainsFunc(verbs(), func(verb string) bool { return own(verb, t) }) {
			continue
		}
		all = append(all, documentedType{Name: t.Name(), Comment: p.comments.Of(t, ""), Fields: p.fields(t)})
	}
	return all
}

func (p page) fields(t reflect.Type) []documentedField {
	var all []documentedField
	for f := range fields(t) {
		all = append(all, documentedField{
			Name: jsonName(f), Type: typeName(f.Type), Required: required(f),
			Comment: cell(p.comments.Of(f.owner, f.Name)),
		})
	}
	return all
}

// element is what a pointer, a list or a map holds.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// typeName says in Markdown what a field holds.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[scenarios.Duration]():
		return "duration"
	case reflect.TypeFor[scenarios.Object]():
		return "object"
	case reflect.TypeFor[clusters.Component]():
		return "component"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Struct:
		return fmt.Sprintf("[%s](#%s)", t.Name(), strings.ToLower(t.Name()))
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return "object"
		}
		return "map of " + typeName(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	}
	return "integer"
}

// prose wraps a paragraph, as the other documents are wrapped.
func prose(text string) string {
	const width = 100
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// cell escapes a text for a table's cell, where | would end the cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
