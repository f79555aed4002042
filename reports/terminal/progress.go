package terminal

import (
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// NewProgress returns the progress display of a command that has no run. On a TTY, a line that only counts further
// replaces the one before it. Otherwise such a line is printed now and then.
func NewProgress(config Config) func(format string, args ...any) {
	t := New(config)
	if !config.TTY {
		return t.Progress
	}
	p := &replacing{Terminal: t}
	return p.Progress
}

// replacing prints lines that stay, and lines that the next line of the same kind replaces.
type replacing struct {
	*Terminal
	mu sync.Mutex
	// counted is the last line without its amounts; "" if it has none and therefore stays.
	counted string
}

func (p *replacing) Progress(format string, args ...any) {
	text := plain.OneLine(fmt.Sprintf(format, args...))
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.config.Clock.Now()
	p.pace.follow(text, now)
	what := withoutAmounts(text)
	if what == text {
		p.counted = ""
		p.print(text + "\n")
		return
	}
	// The line must fit into one row, since only one row is replaced.
	line := plain.Cut(joined(", ", text, p.pace.left(now)), p.width()-1, p.style.ellipsis()) + "\n"
	if what == p.counted {
		line = "\x1b[1A\x1b[2K" + line
	}
	p.counted = what
	p.print(line)
}
