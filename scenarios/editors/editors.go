// Package editors configures editors to complete and check scenarios with the JSON schema.
package editors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
)

const (
	schemaFile   = ".vscode/rehearse.schema.json"
	settingsFile = ".vscode/settings.json"
	setting      = "yaml.schemas"
	modeline     = "# yaml-language-server: $schema="
)

// Install writes the schema into a folder. VS Code's settings in the folder then use it for the given files and
// folders, whose paths are relative to the folder. Each given file also gets a first line for yaml-language-server,
// which other editors use, too. Install returns the files that it changed.
func Install(folder string, paths []string) ([]string, error) {
	patterns, files, err := patternsOf(folder, paths)
	if err != nil {
		return nil, err
	}
	settings, err := os.ReadFile(filepath.Join(folder, settingsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the settings of VS Code: %w", err)
	}
	merged, err := Settings(string(settings), "./"+schemaFile, patterns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing is written. Put this into it:\n  %s", settingsFile, err,
			pair(setting, entry("./"+schemaFile, patterns)))
	}
	changes := []change{{schemaFile, string(scenarios.Schema())}, {settingsFile, merged}}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return nil, fmt.Errorf("read a scenario: %w", err)
		}
		changes = append(changes, change{file, withModeline(string(data), schemaFrom(file))})
	}
	return write(folder, changes)
}

type change struct{ file, text string }

// write writes the files that change.
func write(folder string, changes []change) ([]string, error) {
	var written []string
	for _, c := range changes {
		name := filepath.Join(folder, filepath.FromSlash(c.file))
		if old, err := os.ReadFile(name); err == nil && string(old) == c.text {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return written, fmt.Errorf("make the folder of %s: %w", name, err)
		}
		if err := replace(name, c.text); err != nil {
			return written, fmt.Errorf("write %s: %w", name, err)
		}
		written = append(written, c.file)
	}
	return written, nil
}

// replace writes a file, which keeps its mode. If it is stopped, the file has its old content or the new one.
func replace(name, text string) (err error) {
	mode := fs.FileMode(0o644) // anybody may read a schema
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	unfinished, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(unfinished.Name())
		}
	}()
	_, err = unfinished.WriteString(text)
	if err = errors.Join(err, unfinished.Chmod(mode), unfinished.Close()); err != nil {
		return err
	}
	return os.Rename(unfinished.Name(), name)
}

// patternsOf returns VS Code's patterns for the paths, and those of the paths that are files.
func patternsOf(folder string, paths []string) (patterns, files []string, err error) {
	for _, given := range paths {
		if !filepath.IsLocal(given) {
			return nil, nil, fmt.Errorf("%s is outside of this folder, which the settings are for; go to the folder that "+
				"your editor opens", given)
		}
		info, err := os.Stat(filepath.Join(folder, given))
		if err != nil {
			return nil, nil, fmt.Errorf("find the scenarios: %w", err)
		}
		name := path.Clean(filepath.ToSlash(given))
		if !info.IsDir() {
			patterns, files = append(patterns, name), append(files, name)
			continue
		}
		for _, ending := range []string{"yaml", "yml"} {
			patterns = append(patterns, path.Join(name, "**", "*."+ending))
		}
	}
	return patterns, files, nil
}

// schemaFrom is the relative path from a file to the schema.
func schemaFrom(file string) string {
	return strings.Repeat("../", strings.Count(file, "/")) + schemaFile
}

// Modeline is the first line of a scenario's file for yaml-language-server.
func Modeline(file string) string { return modeline + schemaFrom(filepath.ToSlash(file)) }

// withModeline adds the line before a text, or replaces such a line in it.
func withModeline(text, schema string) string {
	lines := strings.Split(text, "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, modeline) })
	if i < 0 {
		return modeline + schema + "\n" + text
	}
	lines[i] = modeline + schema
	return strings.Join(lines, "\n")
}

// Settings adds the schema, for files that match some patterns, to VS Code's settings. Everything else stays,
// including comments.
func Settings(text, schema string, patterns []string) (string, error) {
	if strings.TrimSpace(text) == "" {
		text = "{}\n"
	}
	root, err := read(text)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", errors.New("the settings are not a JSON object")
	}
	schemas, found := root.member(setting)
	if !found {
		return insert(text, root, pair(setting, entry(schema, patterns))), nil
	}
	if schemas.kind != '{' {
		return "", fmt.Errorf("its %s is no object", setting)
	}
	globs, found := schemas.member(schema)
	if !found {
		return insert(text, schemas, pair(schema, quoted(patterns))), nil
	}
	return extend(text, globs, patterns)
}

// extend adds patterns to those of a schema: a list of texts, or one text.
func extend(text string, globs value, patterns []string) (string, error) {
	items := globs.items
	if globs.kind == '"' {
		items = []value{globs}
	} else if globs.kind != '[' {
		return "", errors.New("the patterns of its schema are neither a string nor a list")
	}
	known := map[string]bool{}
	for _, item := range items {
		var pattern string
		if err := json.Unmarshal([]byte(text[item.from:item.to]), &pattern); err != nil {
			return "", errors.New("a pattern of its schema is not a string")
		}
		known[pattern] = true
	}
	missing := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return known[p] })
	switch {
	case len(missing) == 0:
		return text, nil
	case globs.kind == '"':
		list := "[" + text[globs.from:globs.to] + ", " + strings.TrimPrefix(quoted(missing), "[")
		return text[:globs.from] + list + text[globs.to:], nil
	default:
		more := strings.Trim(quoted(missing), "[]")
		if len(items) > 0 {
			more += ", "
		}
		return text[:globs.from+1] + more + text[globs.from+1:], nil
	}
}

// insert puts a member before all others of an object, on a line of its own.
func insert(text string, object value, member string) string {
	indent := indentAt(text, object.from)
	line := "\n" + indent + "  " + member
	if len(object.members) > 0 {
		line += ","
	}
	rest := text[object.from+1:]
	if len(object.members) == 0 && !strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") {
		line += "\n" + indent
	}
	return text[:object.from+1] + line + rest
}

// indentAt is the indentation of the line that contains a position.
func indentAt(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func pair(key, value string) string { return quoted(key) + ": " + value }

func entry(schema string, patterns []string) string {
	return "{" + pair(schema, quoted(patterns)) + "}"
}

// quoted returns a text, or a list of texts, as JSON, with a space after each comma.
func quoted(v any) string {
	if list, ok := v.([]string); ok {
		var all []string
		for _, text := range list {
			all = append(all, quoted(text))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	data, _ := json.Marshal(v) // a text is always valid
	return string(data)
}
