package clusters

import (
	"path/filepath"
	"slices"
	"strings"
)

// ScenarioDir is the name of the variable for the folder of the file that contains a text: $(SCENARIO_DIR).
const ScenarioDir = "SCENARIO_DIR"

// WithFolder replaces $(SCENARIO_DIR) in a text by the absolute path of a folder. $$(SCENARIO_DIR) and every other
// $(NAME) stay.
func WithFolder(dir, text string) string { return replaced(text, ScenarioDir, Folder(dir)) }

// replaced replaces $(NAME) of one name in a text. $$(NAME) stays.
func replaced(text, name, value string) string {
	placeholder := "$(" + name + ")"
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, placeholder)
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case strings.HasSuffix(before, "$"):
			b.WriteString(placeholder)
		default:
			b.WriteString(value)
		}
		text = after
	}
}

// Folder returns the absolute path of a folder.
func Folder(dir string) string {
	whole, err := filepath.Abs(dir)
	if err != nil { // the working folder was removed; only the relative path is known
		return dir
	}
	return whole
}

// ProgramBeside returns the path of a program. A relative name with a slash is in the folder. A name without a slash
// stays, and is searched in PATH.
func ProgramBeside(dir, program string) string {
	if !strings.ContainsRune(program, '/') || filepath.IsAbs(program) || strings.HasPrefix(program, "$(") {
		return program
	}
	return filepath.Join(Folder(dir), program)
}

// eachText returns the changed texts of a list.
func eachText(texts []string, change func(string) string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = change(text)
	}
	return texts
}

// eachValue returns the changed values of a table.
func eachValue(texts map[string]string, change func(string) string) map[string]string {
	if texts == nil {
		return nil
	}
	all := map[string]string{}
	for key, text := range texts {
		all[key] = change(text)
	}
	return all
}
