package places

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// logs is the folder of the program's logs, which outlive it.
const logs = "logs"

// WriteFiles writes the files of a program's definition, and removes those of the definition before.
func (p *Place) WriteFiles(files map[string]string) error {
	for _, name := range p.written {
		if _, still := files[name]; still {
			continue
		}
		if err := os.Remove(p.File(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove its file %s: %w", name, err)
		}
	}
	p.written = nil
	for name, text := range files {
		p.written = append(p.written, name)
		if err := os.WriteFile(p.File(name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write its file %s: %w", name, err)
		}
	}
	return nil
}

// empty makes the folder, without anything of an earlier system of the same name but its logs: a new pod would not find
// its files either.
func (p *Place) empty() error {
	entries, err := os.ReadDir(p.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read its folder: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == logs })
	for _, entry := range entries {
		if err := os.RemoveAll(p.File(entry.Name())); err != nil {
			return fmt.Errorf("empty its folder: %w", err)
		}
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	return nil
}
