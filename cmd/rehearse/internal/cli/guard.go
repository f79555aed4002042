package cli

import (
	"io"
	"os"
	"sync"
)

// Guarded returns an output for texts that contain messages of servers and programs. The runner of GitHub Actions
// executes commands in the output of a step: lines that begin with ::, even after blanks, and ##[ anywhere. There, a
// space turns them into plain text.
func Guarded(w io.Writer) io.Writer {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return w
	}
	return &guard{w: w}
}

type guard struct {
	w  io.Writer
	mu sync.Mutex
	// text: the line has more than blanks. colon: it begins with one colon. hashes are those before the next byte.
	text, colon bool
	hashes      int
}

// Write implements io.Writer.
func (g *guard) Write(data []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	plain := make([]byte, 0, len(data)+1)
	for _, b := range data {
		if g.colon && b == ':' || g.hashes >= 2 && b == '[' {
			plain = append(plain, ' ')
		}
		plain = append(plain, b)
		g.next(b)
	}
	if _, err := g.w.Write(plain); err != nil {
		return 0, err
	}
	return len(data), nil
}

// next takes note of a byte. The runner removes every blank of Unicode, so a byte outside of ASCII may be part of one.
func (g *guard) next(b byte) {
	g.colon = !g.text && b == ':'
	switch {
	case b == '\n' || b == '\r':
		g.text = false
	case b > ' ' && b < 0x7f:
		g.text = true
	}
	if g.hashes++; b != '#' {
		g.hashes = 0
	}
}
