// Package reference generates the JSON schema and the reference page of the scenario language from its Go types and
// their comments.
package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
)

// Comments are the comments of the types and their fields, by "import/path.Type" and "import/path.Type.Field".
type Comments map[string]string

// ReadComments reads the comments in the source of the language's packages. dir is the folder of package scenarios.
func ReadComments(dir string) (Comments, error) {
	const module = "github.com/rehearse-dev/rehearse/"
	comments := Comments{}
	for path, folder := range map[string]string{module + "scenarios": dir, module + "clusters": filepath.Join(dir, "..",
		"clusters")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return nil, fmt.Errorf("looking for the source of %s: %w", path, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("reading comments: %w", err)
			}
			comments.read(path, parsed)
		}
	}
	return comments, nil
}

func (c Comments) read(path string, file *ast.File) {
	for _, declaration := range file.Decls {
		types, ok := declaration.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			typ := spec.(*ast.TypeSpec)
			doc := typ.Doc
			if doc == nil {
				doc = types.Doc
			}
			name := path + "." + typ.Name.Name
			c[name] = firstParagraph(doc.Text())
			structure, ok := typ.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range structure.Fields.List {
				for _, n := range field.Names {
					c[name+"."+n.Name] = firstParagraph(field.Doc.Text())
				}
			}
		}
	}
}

// firstParagraph is the part of a comment for the users of the language; the rest is for its developers.
func firstParagraph(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(text), " ")
}

// Of returns the comment of a type, or of one of its fields.
func (c Comments) Of(t reflect.Type, field string) string {
	name := t.PkgPath() + "." + t.Name()
	if field != "" {
		name += "." + field
	}
	return c[name]
}
