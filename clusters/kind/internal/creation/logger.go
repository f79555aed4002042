package creation

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kind/pkg/log"

	"github.com/rehearse-dev/rehearse/clusters"
)

// progressLogger reports kind's own messages as progress.
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

// Warn reports one of kind's messages.
func (l *progressLogger) Warn(message string) { l.say(message) }

// Warnf reports one of kind's messages.
func (l *progressLogger) Warnf(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }

// Error reports one of kind's messages; kind also returns the error itself.
func (l *progressLogger) Error(message string) { l.say(message) }

// Errorf reports one of kind's messages.
func (l *progressLogger) Errorf(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }

// V returns the logger of a level; only level 0 is reported.
func (l *progressLogger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return infoLogger{l}
}

type infoLogger struct{ *progressLogger }

// Info reports one of kind's messages.
func (l infoLogger) Info(message string) { l.say(message) }

// Infof reports one of kind's messages.
func (l infoLogger) Infof(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }

// Enabled reports that messages are wanted.
func (l infoLogger) Enabled() bool { return true }
