package reference_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/internal/reference"
)

const stale = "%s is stale: run \"go generate ./scenarios\""

func comments(t *testing.T) reference.Comments {
	t.Helper()
	c, err := reference.ReadComments("../..")
	golden.Must(t, err)
	return c
}

func TestSchemaIsFresh(t *testing.T) {
	want, err := reference.Schema(comments(t))
	golden.Must(t, err)
	if !bytes.Equal(want, scenarios.Schema()) {
		t.Errorf(stale, "scenarios/schema.json")
	}
}

func TestPageIsFresh(t *testing.T) {
	want, err := reference.Page(comments(t), os.DirFS("../../testdata/examples"))
	golden.Must(t, err)
	got := []byte(golden.Read(t, "../../../docs/scenarios.md"))
	if !bytes.Equal(want, got) {
		t.Errorf(stale, "docs/scenarios.md")
	}
}

// Every field, type and verb has a comment: without one, the page would have a hole.
func TestPageHasNoHoles(t *testing.T) {
	page := []byte(golden.Read(t, "../../../docs/scenarios.md"))
	if at := bytes.Index(page, []byte("|  |\n")); at >= 0 {
		t.Errorf("a field has no comment: ...%s", page[max(0, at-80):at])
	}
	if at := bytes.Index(page, []byte("\n\n\n")); at >= 0 {
		t.Errorf("a type or a verb has no comment, before: %.80s", page[at:])
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(scenarios.Schema()))
	golden.Must(t, err)
	c := jsonschema.NewCompiler()
	golden.Must(t, c.AddResource("scenario.json", document))
	schema, err := c.Compile("scenario.json")
	golden.Must(t, err)
	return schema
}

// validate checks a file with one document against the schema.
func validate(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	golden.Must(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	golden.Must(t, err)
	return schema.Validate(value)
}

func TestSchemaTakesTheExamples(t *testing.T) {
	schema := compile(t)
	files, _ := filepath.Glob("../../testdata/examples/*.yaml")
	files = append(files, "../../testdata/rollback.yaml", "../../testdata/tables.yaml")
	for _, file := range files {
		text := []byte(golden.Read(t, file))
		if err := validate(t, schema, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	schema := compile(t)
	for _, name := range []string{
		"unknown-field", "unknown-verb", "two-verbs", "no-verb", "version-as-number", "wrong-kinds",
		"missing-fields", "other-kind", "other-version", "verb-without-value", "step-is-no-mapping",
	} {
		text := []byte(golden.Read(t, "../../testdata/malformed/"+name+".yaml"))
		if validate(t, schema, text) == nil {
			t.Errorf("the schema takes %s", name)
		}
	}
}
