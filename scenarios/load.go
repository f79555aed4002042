package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Set holds scenarios that were loaded: valid, unique by name and id, and with their tables expanded.
type Set struct {
	// Scenarios in the order of the files and of the documents in them; each row of a table is one.
	Scenarios []*Scenario
	// notes are what Lint has to say that is not seen in the scenarios any more.
	notes []Problem
}

// Load reads the scenarios of files, folders (with all that is below them; *.yaml and *.yml, in lexical order) and
// globs. Folders that are called testdata, or begin with a dot or an underscore, are entered only when they are named.
//
// Every mistake in every file is reported, as *Error joined by errors.Join; then there is no Set. A folder may also
// hold objects for Kubernetes: what is plainly no scenario is left out, and Lint says so.
func Load(paths []string) (*Set, error) { return LoadWith(paths, nil) }

// LoadWith is Load where the path "-" stands for the standard input, which errors call "stdin". The files that it names
// are relative to the current folder.
func LoadWith(paths []string, stdin io.Reader) (*Set, error) {
	l := newLoader()
	found, errs := findFiles(paths)
	for _, skipped := range found.skipped {
		l.note(Problem{Position: Position{File: skipped, Line: 1, Column: 1}, Message: "this folder was not entered; name " +
			"it to load it"})
	}
	for _, f := range found.files {
		l.named = f.named
		source, err := open(f.path, stdin)
		if problem, ok := err.(*Error); ok { //nolint:errorlint // it is not wrapped
			l.found.add(problem)
		} else if err != nil {
			errs = append(errs, err)
		} else {
			l.source(source)
		}
	}
	return l.finish(errs)
}

func open(path string, stdin io.Reader) (*source, error) {
	switch {
	case path != standardInput:
		return readSource(path)
	case stdin == nil:
		return nil, errors.New("reading scenarios: there is no standard input to read")
	}
	return readFrom("stdin", stdin)
}

// LoadBytes reads the scenarios in a file's bytes; the name is what errors call the file.
func LoadBytes(name string, data []byte) (*Set, error) {
	l := newLoader()
	l.named = true
	source, problem := newSource(name, data)
	if problem != nil {
		l.found.add(problem)
	} else {
		l.source(source)
	}
	return l.finish(nil)
}

type loader struct {
	found       problems
	expressions *Expressions
	set         *Set
	named       bool // the file was named, rather than found in a folder

	names map[string]*node     // documents by the scenarios' titles
	ids   map[string]*Scenario // scenarios by their ids

	foreign      int    // documents that are objects for Kubernetes
	firstForeign string // the first of them
}

// manifestHint says what to do with objects that are no scenarios.
const manifestHint = "rehearse upgrade -f shows what an upgrade does to such objects; a scenario says what to do " +
	"with them, and the smallest one is\n\n" + smallest

// smallest is a scenario, indented as errors are.
const smallest = `    apiVersion: ` + APIVersion + `
    kind: ` + Kind + `
    metadata: {name: mine}
    spec:
      cluster: {version: "1.35"}
      steps:
      - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: my-object}}`

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

func newLoader() *loader {
	return &loader{expressions: NewExpressions(), set: &Set{}, names: map[string]*node{}, ids: map[string]*Scenario{}}
}

func (l *loader) finish(errs []error) (*Set, error) {
	if len(errs) == 0 && l.found.count == 0 && len(l.set.Scenarios) == 0 && l.foreign > 0 {
		errs = append(errs, fmt.Errorf("loading scenarios: there are none, only %s for Kubernetes, such as %s\n  %s",
			objects(l.foreign), l.firstForeign, manifestHint))
	}
	if err := joinErrors(errs, l.found.list); err != nil {
		return nil, err
	}
	return l.set, nil
}

func (l *loader) note(p Problem) { l.set.notes = append(l.set.notes, p) }

// source reads the documents of one file.
func (l *loader) source(file *source) {
	before, first := l.found.count, len(l.found.list)
	defer func() {
		slices.SortStableFunc(l.found.list[first:], func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
		})
	}()
	documents := parse(file, &l.found)
	if len(documents) == 0 && l.found.count == before {
		l.found.add(file.error(1, 1, "a scenario begins with apiVersion: "+APIVersion, "the file holds no document"))
	}
	for _, root := range documents {
		if !l.header(root) {
			continue
		}
		d := &document{found: &l.found, expressions: l.expressions, root: root}
		for _, s := range d.scenarios() {
			l.add(s, root)
		}
		l.set.notes = append(l.set.notes, d.notes()...)
	}
}

// header says whether a document is a scenario. What is not is an error, unless it lies in a folder and is plainly
// something else.
func (l *loader) header(root *node) bool {
	if root.kind != mapping {
		l.found.at(root, "a scenario begins with apiVersion: "+APIVersion, "want a scenario, not %s", root.what())
		return false
	}
	for _, name := range []string{"apiVersion", "kind"} {
		value := root.get(name)
		if value == nil {
			near := ""
			if len(root.entries) > 0 {
				near = fmt.Sprintf("a scenario begins with apiVersion: %s and kind: %s", APIVersion, Kind)
			}
			l.found.at(root, near, "the field %q is missing", name)
			return false
		}
		if value.kind != scalar || value.tag != tagString {
			l.found.at(value, "", "want a text, not %s", value.what())
			return false
		}
	}
	version, kind := root.get("apiVersion"), root.get("kind")
	switch {
	case version.text == APIVersion && kind.text == Kind:
		return true
	case !l.named && foreign(version.text, kind.text):
		if l.foreign++; l.foreign == 1 {
			l.firstForeign = fmt.Sprintf("%s %s at %s", short(version.text), short(kind.text), root.position())
		}
		l.note(Problem{Position: root.position(), Message: fmt.Sprintf("left out: %s %s is no scenario", short(version.text),
			short(kind.text))})
	case foreign(version.text, kind.text):
		hint := manifestHint
		if l.foreign++; l.foreign > 1 {
			hint = "" // once is enough
		}
		l.found.at(version, hint, "%s %s is an object for Kubernetes, not a scenario", short(version.text), short(kind.text))
	case version.text != APIVersion:
		l.found.at(version, "write "+APIVersion, "the apiVersion %q is not one of a scenario", short(version.text))
	default:
		l.found.at(kind, "write "+Kind, "no kind of %s is called %q", APIVersion, short(kind.text))
	}
	return false
}

// foreign says whether a document is plainly not meant to be a scenario.
func foreign(apiVersion, kind string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	ours, _, _ := strings.Cut(APIVersion, "/")
	return editDistance(strings.ToLower(group), ours) > 3 && editDistance(strings.ToLower(kind), strings.ToLower(Kind)) > 2
}

// add takes a scenario into the set, unless its name or its id is taken.
func (l *loader) add(s *Scenario, root *node) {
	at := root.at("metadata", "name")
	name := s.Metadata.Name
	if first := l.names[name]; first != nil && first != root {
		l.found.at(at, "", "the name %q is taken by the scenario at %s", short(name), first.at("metadata", "name").position())
		return
	}
	l.names[name] = root
	if other := l.ids[s.ID()]; other != nil {
		l.found.at(at, "rename one of them", "the id of %q is that of %q too", short(s.Title()), short(other.Title()))
		return
	}
	l.ids[s.ID()] = s
	l.set.Scenarios = append(l.set.Scenarios, s)
}
