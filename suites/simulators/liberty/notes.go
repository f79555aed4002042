package liberty

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Notes is a file in which simulators note that liberties took effect. Several processes may write to it.
type Notes string

// Add notes that one of a simulator's liberties, with or without seeds, took effect.
func (n Notes) Add(name string, all []string) error {
	file, err := os.OpenFile(string(n), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note that liberty %s took effect: %w", name, err)
	}
	_, err = fmt.Fprintf(file, "%s %s\n", name, setOf(all))
	return errors.Join(err, file.Close())
}

// Missing returns those of a simulator's liberties that took effect in no simulator with the same liberties.
func (n Notes) Missing(all []string) ([]string, error) {
	file, err := os.Open(string(n))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which liberties took effect: %w", err)
	}
	defer file.Close()
	missing := slices.Clone(all)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, set, _ := strings.Cut(lines.Text(), " "); set == setOf(all) {
			missing = slices.DeleteFunc(missing, func(other string) bool { return other == name })
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read which liberties took effect: %w", err)
	}
	return missing, nil
}

// setOf is the text of a set of liberties, without seeds.
func setOf(all []string) string {
	var names []string
	for _, text := range all {
		name, _, _ := strings.Cut(text, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
