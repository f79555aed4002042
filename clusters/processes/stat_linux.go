package processes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// stat is what /proc says of a process or a thread (proc(5)).
type stat struct {
	// state is a letter: T is stopped, Z and X have ended.
	state string
	group string
}

// readStat reads a stat file of /proc. It returns nil if the process or the thread has just ended.
func readStat(file string) (*stat, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// After the name in parentheses: state, parent and group.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 3 {
		return nil, fmt.Errorf("%s has no state and group: %q", file, text)
	}
	return &stat{state: fields[0], group: fields[2]}, nil
}
