package liberty

import (
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
	text, err := os.ReadFile(string(n))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which liberties took effect: %w", err)
	}
	taken := strings.Split(string(text), "\n")
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return slices.Contains(taken, name+" "+setOf(all))
	}), nil
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
