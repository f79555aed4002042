// Package reference generates the JSON schema and the page of run.json from the types of package reports and their
// comments.
package reference

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/folder"
)

// The names of the schemas. Nothing is fetched from these addresses.
const (
	runID     = "https://rehearse.dev/schemas/run.json"
	historyID = "https://rehearse.dev/schemas/history.json"
)

//go:embed run.md.tmpl
var pageText string

// Make returns the schema of run.json, and the page that describes it and history.jsonl. dir is the folder of package
// reports.
func Make(dir string) (schema, page []byte, err error) {
	run, err := reflected(dir, runID, "run.json of Rehearse", &reports.Run{})
	if err != nil {
		return nil, nil, err
	}
	history, err := reflected(dir, historyID, "A line of history.jsonl of Rehearse", &reports.HistoryLine{})
	if err != nil {
		return nil, nil, err
	}
	if schema, err = folder.JSON(run); err != nil {
		return nil, nil, fmt.Errorf("write the schema of run.json: %w", err)
	}
	page, err = describe(run, history)
	return schema, page, err
}

func reflected(dir, id, title string, of any) (*jsonschema.Schema, error) {
	r := jsonschema.Reflector{
		BaseSchemaID: jsonschema.ID(id), ExpandedStruct: true, AllowAdditionalProperties: true,
		RequiredFromJSONSchemaTags: false,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[reports.Seconds]():
				return &jsonschema.Schema{Type: "number", Minimum: "0"}
			case reflect.TypeFor[time.Time]():
				return &jsonschema.Schema{Type: "string", Format: "date-time"}
			case reflect.TypeFor[reports.Status]():
				s := &jsonschema.Schema{Type: "string"}
				for _, status := range reports.Statuses() {
					s.Enum = append(s.Enum, string(status))
				}
				return s
			}
			return nil
		},
	}
	if err := r.AddGoComments("github.com/rehearse-dev/rehearse/reports", dir); err != nil {
		return nil, fmt.Errorf("read the comments of package reports: %w", err)
	}
	comments := map[string]string{}
	for name, text := range r.CommentMap {
		text, _, _ = strings.Cut(text, "\n\n")
		// The package's path ends with what AddGoComments was given as the folder.
		name = strings.Replace(name, "reports/"+strings.TrimPrefix(dir, "./"), "reports", 1)
		comments[name] = strings.Join(strings.Fields(text), " ")
	}
	r.CommentMap = comments
	root := r.Reflect(of)
	root.ID, root.Title = jsonschema.ID(id), title
	return root, nil
}

// row is one field of a type.
type row struct{ Name, Type, Text string }

// part is one type.
type part struct {
	Name, Text string
	Rows       []row
}

func describe(run, history *jsonschema.Schema) ([]byte, error) {
	parts := []part{partOf("Run", run)}
	for _, name := range []string{
		"Track", "Process", "Scenario", "Step", "Attempt", "StateGates", "EffectiveGate",
		"GateReading", "Requirement", "VersionFlips",
	} {
		definition := run.Definitions[name]
		if definition == nil {
			return nil, fmt.Errorf("describe run.json: there is no type %s", name)
		}
		parts = append(parts, partOf(name, definition))
	}
	managers := history.Definitions["FieldManager"]
	if managers == nil {
		return nil, errors.New("describe history.jsonl: there is no type FieldManager")
	}
	page, err := template.New("run.md").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("read the template of docs/run.md: %w", err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{
		"Format": reports.Format, "Run": parts,
		"History": partOf("A line", history), "Managers": partOf("FieldManager", managers),
	}); err != nil {
		return nil, fmt.Errorf("write docs/run.md: %w", err)
	}
	return b.Bytes(), nil
}

func partOf(name string, s *jsonschema.Schema) part {
	p := part{Name: name, Text: s.Description}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		text := pair.Value.Description
		if len(pair.Value.Enum) > 0 {
			var words []string
			for _, word := range pair.Value.Enum {
				words = append(words, fmt.Sprint(word))
			}
			text = strings.TrimSpace(text + " One of: " + strings.Join(words, ", ") + ".")
		}
		if text == "" && len(p.Rows) > 0 {
			text = "see the field above" // one comment for both
		}
		p.Rows = append(p.Rows, row{pair.Key, typeOf(pair.Value), strings.ReplaceAll(text, "|", "\\|")})
	}
	return p
}

func typeOf(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Type == "array":
		return "list of " + typeOf(s.Items)
	case s.Format == "date-time":
		return "time"
	case s.Type == "object":
		return "map"
	default:
		return s.Type
	}
}
