package processes

import (
	"errors"
	"fmt"
	"os"
)

// Frozen calls a function while the process is stopped (SIGSTOP): its files are then as after a kill at that moment.
// The process continues afterwards, even after an error.
func (p *Process) Frozen(do func() error) (err error) {
	defer func() {
		if thawed := p.signal(thaw); thawed != nil && !errors.Is(thawed, os.ErrProcessDone) {
			err = errors.Join(err, fmt.Errorf("thaw %s (pid %d): %w", p.Name, p.PID, thawed))
		}
	}()
	err = p.signal(freeze)
	if err == nil {
		err = awaitStill(p.PID)
	}
	if err != nil {
		return fmt.Errorf("freeze %s (pid %d): %w", p.Name, p.PID, err)
	}
	return do()
}
