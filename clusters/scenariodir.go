package clusters

import (
	"path/filepath"
	"slices"
	"strings"
)

// ScenarioDir is the name under which a text finds the folder of the file that it stands in: $(SCENARIO_DIR).
const ScenarioDir = "SCENARIO_DIR"

// WithFolder puts the absolute path of a folder into a text, in place of $(SCENARIO_DIR). $$(SCENARIO_DIR) and every
// other $(NAME) stay.
func WithFolder(dir, text string) string {
	const placeholder = "$(" + ScenarioDir + ")"
	if !strings.Contains(text, placeholder) {
		return text
	}
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
			b.WriteString(Folder(dir))
		}
		text = after
	}
}

// Folder is the absolute path of a folder.
func Folder(dir string) string {
	whole, err := filepath.Abs(dir)
	if err != nil { // the working folder is gone; the relative path is all there is
		return dir
	}
	return whole
}

// ProgramBeside takes a program with a slash in its name from a folder, where the name is relative. Without a slash
// it is looked for in PATH.
func ProgramBeside(dir, program string) string {
	if !strings.ContainsRune(program, '/') || filepath.IsAbs(program) || strings.HasPrefix(program, "$(") {
		return program
	}
	return filepath.Join(Folder(dir), program)
}

func withFolder(dir string, texts []string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = WithFolder(dir, text)
	}
	return texts
}

func tableWithFolder(dir string, texts map[string]string) map[string]string {
	if texts == nil {
		return nil
	}
	all := map[string]string{}
	for key, text := range texts {
		all[key] = WithFolder(dir, text)
	}
	return all
}
