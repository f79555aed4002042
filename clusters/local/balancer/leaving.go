package balancer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Leaving is a folder with an empty file for each server that shall get no new connections, named after its address.
// The balancer looks at each connection, so a server that is about to stop never gets one more.
type Leaving string

// Add lets the balancer give a server no new connections.
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

// Remove lets the balancer give a server connections again, if it does not.
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
