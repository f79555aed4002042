package architecture

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// Rehearse also compiles for macOS. A whole build for it takes minutes, so this looks only for names that are missing
// there: each package is checked with the files of that platform. Packages of others count as unknown.
func TestNothingIsMissingOnMacOS(t *testing.T) {
	here, there := newChecker("linux"), newChecker("darwin")
	for folder := range production(t) {
		for _, c := range []*checker{here, there} {
			if _, err := c.Import(path.Join(module, folder)); err != nil {
				t.Fatalf("%s: %v", folder, err)
			}
		}
	}
	if len(here.packages) < 100 {
		t.Errorf("%d packages were checked, want all of this repository", len(here.packages))
	}
	for complaint := range there.complaints {
		if !here.complaints[complaint] {
			t.Errorf("on macOS: %s", complaint)
		}
	}
}

// A missing name is found in its own package and in one that imports it.
func TestMissingNames(t *testing.T) {
	c := newChecker("darwin")
	for _, text := range []string{
		"package a\n\nfunc f() { onlyOnLinux() }",
		"package b\n\nimport \"" + module + "/clusters/processes\"\n\nvar _ = processes.OnlyOnLinux",
	} {
		file, err := parser.ParseFile(c.files, "a.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.check("a", []*ast.File{file})
	}
	for _, want := range []string{"undefined: onlyOnLinux", "undefined: processes.OnlyOnLinux"} {
		if !c.complaints["a: "+want] {
			t.Errorf("%q is not among %v", want, slices.Sorted(maps.Keys(c.complaints)))
		}
	}
}

// checker checks packages of this repository from their sources, as they are for a platform.
type checker struct {
	context    build.Context
	files      *token.FileSet
	packages   map[string]*types.Package
	complaints map[string]bool
}

func newChecker(system string) *checker {
	c := &checker{
		context: build.Default, files: token.NewFileSet(), packages: map[string]*types.Package{},
		complaints: map[string]bool{},
	}
	c.context.GOOS, c.context.GOARCH, c.context.CgoEnabled = system, "arm64", false
	return c
}

// Import returns a package of this repository. All others are unknown: what is used of them is not checked.
func (c *checker) Import(name string) (*types.Package, error) {
	folder, own := strings.CutPrefix(name+"/", module+"/")
	if !own {
		return nil, errors.New("it is not part of this repository")
	}
	if known := c.packages[name]; known != nil {
		return known, nil
	}
	found, err := c.context.ImportDir(path.Join(root, folder), 0)
	if err != nil && found.Name == "" {
		return nil, err
	}
	var parsed []*ast.File
	for _, file := range found.GoFiles {
		one, err := parser.ParseFile(c.files, path.Join(found.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, one)
	}
	c.packages[name] = c.check(name, parsed)
	return c.packages[name], nil
}

func (c *checker) check(name string, parsed []*ast.File) *types.Package {
	config := types.Config{Importer: c, Error: func(err error) {
		var wrong types.Error
		if errors.As(err, &wrong) && !strings.HasPrefix(wrong.Msg, "could not import") {
			c.complaints[name+": "+wrong.Msg] = true
		}
	}}
	checked, _ := config.Check(name, c.files, parsed, nil) // Error has all errors
	return checked
}
