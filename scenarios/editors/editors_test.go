package editors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Everything else in VS Code's settings stays unchanged, character by character.
func TestSettings(t *testing.T) {
	const schema = "./s.json"
	one := []string{"a/**/*.yaml", "b.yaml"}
	for name, test := range map[string]struct {
		text, want, err string
	}{
		"nothing": {"", "{\n  \"yaml.schemas\": {\"./s.json\": [\"a/**/*.yaml\", \"b.yaml\"]}\n}\n", ""},
		"empty":   {"{\n}\n", "{\n  \"yaml.schemas\": {\"./s.json\": [\"a/**/*.yaml\", \"b.yaml\"]}\n}\n", ""},
		"others": {
			"// mine\n{\n  \"editor.tabSize\": 2, // two\n}\n",
			"// mine\n{\n  \"yaml.schemas\": {\"./s.json\": [\"a/**/*.yaml\", \"b.yaml\"]},\n  \"editor.tabSize\": 2, // " +
				"two\n}\n", "",
		},
		"other schemas": {
			"{\n  \"yaml.schemas\": {\n    /* {x} */ \"https://x/y\": \"*.y\\\"{\",\n  }\n}",
			"{\n  \"yaml.schemas\": {\n    \"./s.json\": [\"a/**/*.yaml\", \"b.yaml\"],\n    /* {x} */ \"https://x/y\": " +
				"\"*.y\\\"{\",\n" +
				"  }\n}", "",
		},
		"no schemas": {
			`{"yaml.schemas": {}}`, "{\"yaml.schemas\": {\n  \"./s.json\": [\"a/**/*.yaml\", \"b.yaml\"]\n}}",
			"",
		},
		"ours": {
			`{"yaml.schemas": {"./s.json": ["b.yaml", "a/**/*.yaml"]}}`,
			`{"yaml.schemas": {"./s.json": ["b.yaml", "a/**/*.yaml"]}}`, "",
		},
		"ours, one": {
			`{"yaml.schemas": {"./s.json": "b.yaml"}}`,
			`{"yaml.schemas": {"./s.json": ["b.yaml", "a/**/*.yaml"]}}`, "",
		},
		"ours, others": {
			`{"yaml.schemas": {"./s.json": ["c"]}}`,
			`{"yaml.schemas": {"./s.json": ["a/**/*.yaml", "b.yaml", "c"]}}`, "",
		},
		"ours, none": {
			`{"yaml.schemas": {"./s.json": []}}`, `{"yaml.schemas": {"./s.json": ["a/**/*.yaml", "b.yaml"]}}`,
			"",
		},
		"a list":         {`[]`, "", "not a JSON object"},
		"another kind":   {`{"yaml.schemas": true}`, "", "yaml.schemas is no object"},
		"not patterns":   {`{"yaml.schemas": {"./s.json": 7}}`, "", "neither a string nor a list"},
		"not a pattern":  {`{"yaml.schemas": {"./s.json": [7]}}`, "", "not a string"},
		"cut off":        {"{\n\"a\": [1,", "", "line 2: the text ends too soon"},
		"no comma":       {`{"a": 1 "b": 2}`, "", "a comma is missing"},
		"no key":         {`{a: 1}`, "", "a key in quotes is missing"},
		"no colon":       {`{"a" 1}`, "", "a colon is missing"},
		"no value":       {`{"a": nothing}`, "", "no value"},
		"no end":         {`{"a": "b}`, "", "a text does not end"},
		"endless":        {"{} /* ", "", "a comment does not end"},
		"behind the end": {"{} {}", "", "unexpected text after the end"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Settings(test.text, schema, one)
			if test.err != "" {
				golden.Error(t, err, test.err)
				return
			}
			if err != nil || got != test.want {
				t.Errorf("%v\ngot  %q\nwant %q", err, got, test.want)
			}
			if again, err := Settings(got, schema, one); err != nil || again != got {
				t.Errorf("a second time: %v\n%q", err, again)
			}
		})
	}
}

func TestInstall(t *testing.T) {
	folder := t.TempDir()
	scenario := filepath.Join(folder, "more", "mine.yaml")
	for _, dir := range []string{"more", "scenarios"} {
		golden.Must(t, os.Mkdir(filepath.Join(folder, dir), 0o755))
	}
	golden.Write(t, scenario, "kind: Scenario\n")
	paths := []string{"scenarios/", "more/mine.yaml"}
	files, err := Install(folder, paths)
	if err != nil || strings.Join(files, " ") != ".vscode/rehearse.schema.json .vscode/settings.json more/mine.yaml" {
		t.Fatal(files, err)
	}
	settings := []byte(golden.Read(t, filepath.Join(folder, ".vscode", "settings.json")))
	var read map[string]map[string][]string
	golden.Must(t, json.Unmarshal(settings, &read))
	patterns := read["yaml.schemas"]["./.vscode/rehearse.schema.json"]
	if got := strings.Join(patterns, " "); got != "scenarios/**/*.yaml scenarios/**/*.yml more/mine.yaml" {
		t.Error(got)
	}
	text, err := os.ReadFile(scenario)
	want := "# yaml-language-server: $schema=../.vscode/rehearse.schema.json\n"
	if err != nil || string(text) != want+"kind: Scenario\n" || Modeline("more/mine.yaml")+"\n" != want {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(scenario),
		strings.TrimSpace(strings.SplitN(want, "=", 2)[1]))); err != nil {
		t.Error(err)
	}
	if files, err := Install(folder, paths); err != nil || len(files) > 0 {
		t.Errorf("a second time: %v, %v", files, err)
	}
	for _, wrong := range []string{"nowhere", "../" + filepath.Base(folder)} {
		if _, err := Install(folder, []string{wrong}); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
	broken := []byte("{")
	golden.Write(t, filepath.Join(folder, ".vscode", "settings.json"), broken)
	_, err = Install(folder, paths)
	golden.Error(t, err, `"yaml.schemas": {"./.vscode`)
}
