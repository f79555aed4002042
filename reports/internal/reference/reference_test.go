package reference

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	schema, page, err := Make(".")
	golden.Must(t, err)
	for path, want := range map[string][]byte{"run.schema.json": schema, filepath.Join("..", "docs", "run.md"): page} {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v): go generate ./reports", path, err)
		}
	}
	for _, p := range bytes.Split(page, []byte("\n")) {
		if bytes.HasSuffix(p, []byte("|  |")) {
			t.Errorf("no meaning: %s", p)
		}
	}
}

func TestSchemaTakesRealRuns(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema()))
	golden.Must(t, err)
	compiler := jsonschema.NewCompiler()
	golden.Must(t, compiler.AddResource(runID, document))
	schema, err := compiler.Compile(runID)
	golden.Must(t, err)
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "run-format-*.json"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		data := []byte(golden.Read(t, file))
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		golden.Must(t, err)
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, wrong := range []string{
		`{}`,
		`{"started": "2026-01-01T00:00:00Z", "provider": "local", "tracks": [{"name": "a", "path": [], "scenarios": [{"name": "x", "file": "f", "line": 1, "status": "green", "steps": []}]}]}`,
	} {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(wrong)))
		golden.Must(t, err)
		if schema.Validate(value) == nil {
			t.Errorf("the schema takes %s", wrong)
		}
	}
}
