// Package architecture only has tests. They check what docs/architecture.md says about packages and their sizes, that
// Rehearse compiles for every platform it is released for, and that prose is wrapped.
package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

const (
	root   = "../.."
	module = "github.com/rehearse-dev/rehearse"
	// mostFiles is how many production files a package may have; generated files, and the file of each verb, do not count.
	mostFiles = 25
	// mostMethods is how many methods a type may have; those of embedded types do not count.
	mostMethods = 25
)

// imports returns the folders that the packages below each folder may import.
func imports() map[string][]string {
	return map[string][]string{
		"clusters":  {},
		"reports":   {},
		"scenarios": {"clusters"},
		"harness":   {"clusters", "reports", "scenarios"},
		"suites":    {"clusters", "harness", "reports", "scenarios"},
		"cmd":       {"clusters", "harness", "reports", "scenarios", "suites"},
		"internal":  {"clusters"},
		".":         {"clusters", "harness", "reports", "scenarios", "suites"},

		"e2eframework": {".", "clusters"},
	}
}

// production reads the production files of each package, by its folder.
func production(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	packages := map[string]map[string]*ast.File{}
	files := token.NewFileSet()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 1 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		if packages[folder] == nil {
			packages[folder] = map[string]*ast.File{}
		}
		packages[folder][path.Base(name)] = file
		return nil
	})
	golden.Must(t, err)
	return packages
}

func top(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	return first
}

// Imports go in one direction, and the packages below harness do not import harness itself.
func TestDirection(t *testing.T) {
	for folder, files := range production(t) {
		if top(folder) == "examples" {
			continue // they use whatever is public
		}
		allowed, known := imports()[top(folder)]
		if !known {
			t.Errorf("%s: what may the packages below %s import?", folder, top(folder))
		}
		for name, file := range files {
			for _, one := range file.Imports {
				text, err := strconv.Unquote(one.Path.Value)
				golden.Must(t, err)
				to, ours := strings.CutPrefix(text, module)
				to = path.Clean(strings.TrimPrefix(to, "/"))
				if !ours || top(to) == top(folder) && to != "harness" || slices.Contains(allowed, top(to)) {
					continue
				}
				if to == "harness" && strings.HasPrefix(folder, "harness/explore") {
					continue // an exploration runs the scenarios that it writes
				}
				t.Errorf("%s/%s imports %s", folder, name, text)
			}
		}
	}
}

// Some packages have parts, each of which imports only parts that are above it in a table of the page.
func TestOrderOfParts(t *testing.T) {
	page := golden.Read(t, path.Join(root, "docs/architecture.md"))
	packages := production(t)
	for folder, paragraph := range map[string]string{
		"clusters/kind/internal": "**A kind cluster** consists", "clusters/systems": "**Systems.** ",
	} {
		_, text, _ := strings.Cut(page, paragraph)
		_, table, _ := strings.Cut(text, "|---|---|\n")
		table, _, _ = strings.Cut(table, "\n\n")
		var parts []string
		for _, line := range strings.Split(table, "\n") {
			parts = append(parts, path.Join(folder, strings.Split(line, "`")[1]))
		}
		for part, files := range packages {
			if !strings.HasPrefix(part, folder+"/") {
				continue
			}
			at := slices.Index(parts, part)
			if at < 0 {
				t.Errorf("%s is not in the table below %q", part, paragraph)
				continue
			}
			for name, file := range files {
				for _, one := range file.Imports {
					to := strings.TrimPrefix(strings.Trim(one.Path.Value, `"`), module+"/")
					if to == folder || slices.Contains(parts[at:], to) {
						t.Errorf("%s/%s imports %s, which is not above it in the table", part, name, to)
					}
				}
			}
		}
	}
}

// Packages have few files, and types few methods.
func TestSizes(t *testing.T) {
	check := func(what string, n, most int) {
		if n > most {
			t.Errorf("%s: there are %d, and the limit is %d; give a part of it a package, or a type, of its own", what, n, most)
		}
	}
	for folder, files := range production(t) {
		uncounted := func(name string, _ *ast.File) bool {
			return strings.HasPrefix(name, "verb_") || strings.HasPrefix(name, "zz_generated.")
		}
		methods := map[string]int{}
		for _, file := range files {
			for _, declaration := range file.Decls {
				if f, is := declaration.(*ast.FuncDecl); is && f.Recv != nil {
					methods[receiver(f.Recv.List[0].Type)]++
				}
			}
		}
		maps.DeleteFunc(files, uncounted)
		check("files of "+folder, len(files), mostFiles)
		for name, n := range methods {
			check("methods of "+folder+"."+name, n, mostMethods)
		}
	}
}

// The packages of the public API exist.
func TestPublicAPI(t *testing.T) {
	page := golden.Read(t, path.Join(root, "docs/go.md"))
	_, table, _ := strings.Cut(page, "## The public API")
	packages, n := production(t), 0
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 0 {
				continue
			}
			if below, _, found := strings.Cut(cells[1], "` and"); found && i > 1 {
				name = path.Join(strings.Trim(below, " `"), name)
			}
			if n++; packages[name] == nil && name != "rehearse" {
				t.Errorf("there is no package %s", name)
			}
		}
	}
	if n < 15 {
		t.Errorf("the page lists %d packages", n)
	}
}

// receiver returns the name of a receiver's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
