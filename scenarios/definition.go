package scenarios

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/expand"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// besideDefinition are the fields that a system with a definition may have of its own.
var besideDefinition = []string{"name", "definition", "version", "probes", "webhookCalls", "remove"}

// defined returns a list of systems in which each system with a definition has the fields of that file. The file is
// relative to the document's file. A field of the system itself replaces that of the file.
func (d *document) defined(list *yamltree.Node) *yamltree.Node {
	if list.Kind != yamltree.Sequence {
		return list
	}
	all := list.Like(yamltree.Sequence)
	for _, item := range list.Items {
		all.Items = append(all.Items, d.definedOne(item))
	}
	return all
}

func (d *document) definedOne(item *yamltree.Node) *yamltree.Node {
	file := item.Get("definition")
	if file == nil {
		return item
	}
	if file.Kind != yamltree.Scalar || file.Tag != yamltree.TagString || file.Text == "" {
		d.found.At(file, "", "want the name of a file, not %s", file.What())
		return item
	}
	for _, e := range item.Entries {
		if !slices.Contains(besideDefinition, e.Key.Text) {
			d.found.At(e.Key, "write it into the file, or give the system no definition",
				"a system with a definition has no other fields of its own than version, probes and webhookCalls")
			return item
		}
	}
	definition := d.definition(file)
	if definition == nil {
		return item
	}
	if own := item.Get("probes"); own != nil && hasVersionedProbes(definition) {
		d.found.At(item.Key("probes"), "write them into the file", "the definition has probes for some versions")
		return item
	}
	whole := item.Like(yamltree.Mapping)
	whole.Entries = slices.Clone(item.Entries)
	for _, e := range definition.Entries {
		if item.Get(e.Key.Text) == nil {
			whole.Entries = append(whole.Entries, e)
		}
	}
	return whole
}

// hasVersionedProbes reports whether a definition has probes for some versions.
func hasVersionedProbes(definition *yamltree.Node) bool {
	versions := definition.Get("versions")
	return versions != nil && slices.ContainsFunc(versions.Items,
		func(entry *yamltree.Node) bool { return entry.Get("probes") != nil })
}

// replaced returns a copy of a mapping in which a value is replaced; the same mapping if it has no such value.
func replaced(n *yamltree.Node, key string, by func(*yamltree.Node) *yamltree.Node) *yamltree.Node {
	if n.Get(key) == nil {
		return n
	}
	all := n.Like(yamltree.Mapping)
	for _, e := range n.Entries {
		if e.Key.Text == key {
			e.Value = by(e.Value)
		}
		all.Entries = append(all.Entries, e)
	}
	return all
}

// definition reads a file that a system names; nil if it has an error, which is reported.
func (d *document) definition(file *yamltree.Node) *yamltree.Node {
	path := relativeTo(filepath.Dir(file.Position().File), file.Text)
	if known := d.definitions[path]; known != nil {
		return known
	}
	source, err := yamltree.ReadSource(path)
	if err != nil {
		d.found.At(file, "it is relative to this file", "the definition of the system cannot be read: %s",
			strings.TrimPrefix(err.Error(), "reading scenarios: "))
		return nil
	}
	if d.definitions == nil {
		d.definitions = map[string]*yamltree.Node{}
	}
	root := readDefinition(source, d.found)
	if root != nil {
		d.definitions[path] = root
	}
	return root
}

// relativeTo returns the path of a file whose name, if it is relative, is relative to a folder.
func relativeTo(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// readDefinition reads the definition of a system from a file of its own; nil if it has an error, which is reported.
func readDefinition(file *yamltree.Source, found *yamltree.Problems) *yamltree.Node {
	before := found.Count
	documents := yamltree.Parse(file, found)
	if found.Count > before {
		return nil
	}
	if len(documents) != 1 {
		found.Add(file.ErrorAt(1, 1, "", fmt.Sprintf("want one document with a system, not %d", len(documents))))
		return nil
	}
	root := documents[0]
	if other := root.Get("definition"); other != nil {
		found.At(other, "write the whole definition into this file", "a definition names no other file")
		return nil
	}
	x := &expand.Expander{Found: found, Expressions: expressions.New(), Bindings: &expand.Bindings{}}
	root = x.Node(root, reflect.TypeFor[clusters.System](), expand.PlaceFixed)
	if root.Kind != yamltree.Mapping {
		found.At(root, "name: lws, and process, module or manifests", "want a system, not %s", root.What())
	}
	if found.Count > before {
		return nil
	}
	return root
}
