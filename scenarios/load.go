package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Set holds loaded scenarios. They are valid, their titles and ids are unique, and their tables are expanded.
type Set struct {
	// Scenarios are in the order of the files and of the documents in them. Each row of a table is one scenario.
	Scenarios []*Scenario
	// notes are problems for Lint that can no longer be seen in the scenarios.
	notes []Problem
}

// Load reads the scenarios of files, folders and globs. In a folder and all folders below it, it reads *.yaml and *.yml
// in lexical order. It skips folders below it whose name is testdata or starts with a dot or an underscore.
//
// Load reports all errors in all files, as *Error joined by errors.Join. If there are any, it returns no Set. A folder
// may also hold Kubernetes objects: Load skips documents that are clearly not scenarios, and Lint reports them. It also
// skips the requirements of a suite, a list in requirements.yaml.
func Load(paths []string) (*Set, error) { return LoadWith(paths, nil) }

// LoadWith is Load, but the path "-" means the standard input, which errors call "stdin". File names in its scenarios
// are relative to the current folder.
func LoadWith(paths []string, stdin io.Reader) (*Set, error) {
	l := newLoader()
	found, errs := yamltree.FindFiles(paths)
	for _, skipped := range found.Skipped {
		if onlySupports(skipped) {
			continue
		}
		l.note(Problem{Position: Position{File: skipped, Line: 1, Column: 1}, Message: "this folder was skipped; " +
			"name it to load it"})
	}
	for _, f := range found.Files {
		l.named = f.Named
		source, err := open(f.Path, stdin)
		if problem, ok := err.(*Error); ok { //nolint:errorlint // it is not wrapped
			l.found.Add(problem)
		} else if err != nil {
			errs = append(errs, err)
		} else {
			l.source(source)
		}
	}
	return l.finish(errs)
}

// onlySupports reports whether a skipped folder holds what scenarios need, such as _systems, and no scenarios.
func onlySupports(folder string) bool {
	if !strings.HasPrefix(filepath.Base(folder), "_") {
		return false
	}
	found, errs := yamltree.FindFiles([]string{folder})
	for _, f := range found.Files {
		file, err := yamltree.ReadSource(f.Path)
		if err != nil || scenarioKind.MatchString(file.Text) {
			return false
		}
	}
	return len(errs) == 0 && len(found.Files) > 0 && len(found.Skipped) == 0
}

// scenarioKind is how a YAML file says that it holds a scenario.
var scenarioKind = regexp.MustCompile(`\bkind["']?\s*:\s*["']?` + Kind + `\b`)

func open(path string, stdin io.Reader) (*yamltree.Source, error) {
	switch {
	case path != yamltree.StandardInput:
		return yamltree.ReadSource(path)
	case stdin == nil:
		return nil, errors.New("reading scenarios: there is no standard input")
	}
	return yamltree.ReadFrom("stdin", stdin)
}

// LoadBytes reads the scenarios in the bytes of a file. name is the file's name in errors. File names in the scenarios
// are relative to the folder of name.
func LoadBytes(name string, data []byte) (*Set, error) {
	l := newLoader()
	l.named = true
	source, problem := yamltree.NewSource(name, data)
	if problem != nil {
		l.found.Add(problem)
	} else {
		l.source(source)
	}
	return l.finish(nil)
}

type loader struct {
	found       yamltree.Problems
	expressions *expressions.Evaluator
	set         *Set
	named       bool // the file itself was named, not found in a folder

	names map[string]*yamltree.Node // documents by the scenarios' names
	ids   map[string]*Scenario      // scenarios by their ids

	requirements bool   // a file with the requirements of a suite was left out
	foreign      int    // the number of documents that are Kubernetes objects
	firstForeign string // describes the first of them
}

// manifestHint says what to do with Kubernetes objects that are not scenarios.
const manifestHint = "rehearse upgrade -f shows what an upgrade does to such objects; a scenario says what to do " +
	"with them, and the smallest one is\n\n" + smallest

// smallest is the smallest scenario, indented like the text of errors.
const smallest = `    apiVersion: ` + APIVersion + `
    kind: ` + Kind + `
    metadata: {name: mine}
    spec:
      cluster: {version: "1.35"}
      steps:
      - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: my-object}}`

// requirementsFile is the file with the requirements of a suite, beside its scenarios.
const requirementsFile = "requirements.yaml"

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

func newLoader() *loader {
	return &loader{
		expressions: expressions.New(), set: &Set{}, names: map[string]*yamltree.Node{},
		ids: map[string]*Scenario{},
	}
}

func (l *loader) finish(errs []error) (*Set, error) {
	if len(errs) == 0 && l.found.Count == 0 && len(l.set.Scenarios) == 0 && l.foreign > 0 {
		errs = append(errs, fmt.Errorf("loading scenarios: there are none, only %s for Kubernetes, such as %s\n  %s",
			objects(l.foreign), l.firstForeign, manifestHint))
	}
	if len(errs) == 0 && l.found.Count == 0 && len(l.set.Scenarios) == 0 && l.requirements {
		errs = append(errs, errors.New("loading scenarios: there are none, only the requirements of a suite"))
	}
	if err := yamltree.JoinErrors(errs, l.found.List); err != nil {
		return nil, err
	}
	return l.set, nil
}

func (l *loader) note(p Problem) { l.set.notes = append(l.set.notes, p) }

// source reads the documents of one file.
func (l *loader) source(file *yamltree.Source) {
	before, first := l.found.Count, len(l.found.List)
	defer func() {
		slices.SortStableFunc(l.found.List[first:], func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
		})
	}()
	documents := yamltree.Parse(file, &l.found)
	if len(documents) == 0 && l.found.Count == before {
		l.found.Add(file.ErrorAt(1, 1, "a scenario begins with apiVersion: "+APIVersion, "the file "+
			"contains no document"))
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

// header reports whether a document is a scenario. Any other document is an error. Exception: if its file was found in
// a folder and it is clearly not a scenario, it is skipped and noted for Lint.
func (l *loader) header(root *yamltree.Node) bool {
	if !l.named && root.Kind == yamltree.Sequence && filepath.Base(root.Position().File) == requirementsFile {
		l.requirements = true
		return false
	}
	if root.Kind != yamltree.Mapping {
		l.found.At(root, "a scenario begins with apiVersion: "+APIVersion, "want a scenario, not %s", root.What())
		return false
	}
	for _, name := range []string{"apiVersion", "kind"} {
		value := root.Get(name)
		if value == nil {
			near := ""
			if len(root.Entries) > 0 {
				near = fmt.Sprintf("a scenario begins with apiVersion: %s and kind: %s", APIVersion, Kind)
			}
			l.found.At(root, near, "the field %q is missing", name)
			return false
		}
		if value.Kind != yamltree.Scalar || value.Tag != yamltree.TagString {
			l.found.At(value, "", "want a string, not %s", value.What())
			return false
		}
	}
	version, kind := root.Get("apiVersion"), root.Get("kind")
	switch {
	case version.Text == APIVersion && kind.Text == Kind:
		return true
	case !l.named && foreign(version.Text, kind.Text):
		if l.foreign++; l.foreign == 1 {
			l.firstForeign = fmt.Sprintf("%s %s at %s", words.Short(version.Text), words.Short(kind.Text), root.Position())
		}
		l.note(Problem{Position: root.Position(), Message: fmt.Sprintf("left out: %s %s is not a scenario",
			words.Short(version.Text),
			words.Short(kind.Text))})
	case foreign(version.Text, kind.Text):
		hint := manifestHint
		if l.foreign++; l.foreign > 1 {
			hint = "" // once is enough
		}
		l.found.At(version, hint, "%s %s is an object for Kubernetes, not a scenario", words.Short(version.Text),
			words.Short(kind.Text))
	case version.Text != APIVersion:
		l.found.At(version, "write "+APIVersion, "the apiVersion %q is not that of a scenario",
			words.Short(version.Text))
	default:
		l.found.At(kind, "write "+Kind, "no kind of %s is called %q", APIVersion, words.Short(kind.Text))
	}
	return false
}

// foreign reports whether a document is clearly not a scenario: neither its group nor its kind looks like a
// misspelling.
func foreign(apiVersion, kind string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	ours, _, _ := strings.Cut(APIVersion, "/")
	return words.Distance(strings.ToLower(group), ours) > 3 && words.Distance(strings.ToLower(kind),
		strings.ToLower(Kind)) > 2
}

// add adds a scenario to the set, unless another one has its name or its id.
func (l *loader) add(s *Scenario, root *yamltree.Node) {
	at := root.At("metadata", "name")
	name := s.Metadata.Name
	if first := l.names[name]; first != nil && first != root {
		l.found.At(at, "", "the name %q is taken by the scenario at %s", words.Short(name),
			first.At("metadata", "name").Position())
		return
	}
	l.names[name] = root
	if other := l.ids[s.ID()]; other != nil {
		l.found.At(at, "rename one of them", "%q and %q have the same id", words.Short(s.Title()),
			words.Short(other.Title()))
		return
	}
	l.ids[s.ID()] = s
	l.set.Scenarios = append(l.set.Scenarios, s)
}
