package balancer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Leaving is a folder with an empty file for each server that is about to stop, named after its address. The balancer
// checks it for each connection: a leaving server gets one only if no other server accepts it.
type Leaving string

// Add marks a server as leaving.
func (l Leaving) Add(address string) error {
	err := os.MkdirAll(string(l), 0o700)
	if err == nil {
		err = os.WriteFile(l.file(address), nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("take the server at %s from the balancer: %w", address, err)
	}
	return nil
}

// Remove marks a server as available again, if it was leaving.
func (l Leaving) Remove(address string) error {
	if err := os.Remove(l.file(address)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("give the server at %s back to the balancer: %w", address, err)
	}
	return nil
}

func (l Leaving) has(address string) bool {
	_, err := os.Stat(l.file(address))
	return err == nil
}

func (l Leaving) file(address string) string { return filepath.Join(string(l), address) }
