package creation

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kind/pkg/log"

	"github.com/rehearse-dev/rehearse/clusters"
)

// progressLogger passes kind's own messages on as progress.
type progressLogger struct {
	progress clusters.Progress
	name     string
}

func (l *progressLogger) say(text string) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "✓") {
		return // it was reported when it began
	}
	if text = strings.TrimSpace(strings.Trim(text, " •✗.")); text != "" {
		l.progress("kind cluster %s: %s", l.name, text)
	}
}

// Warn is one of kind's messages.
func (l *progressLogger) Warn(message string) { l.say(message) }

// Warnf is one of kind's messages.
func (l *progressLogger) Warnf(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }

// Error is one of kind's messages; the error itself is returned too.
func (l *progressLogger) Error(message string) { l.say(message) }

// Errorf is one of kind's messages.
func (l *progressLogger) Errorf(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }

// V is the logger of a level; only the first is passed on.
func (l *progressLogger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return infoLogger{l}
}

type infoLogger struct{ *progressLogger }

// Info is one of kind's messages.
func (l infoLogger) Info(message string) { l.say(message) }

// Infof is one of kind's messages.
func (l infoLogger) Infof(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }

// Enabled says that messages are wanted.
func (l infoLogger) Enabled() bool { return true }
