package processes

import (
	"errors"
	"fmt"
)

// Frozen calls a function while the process is stopped (SIGSTOP): its files are then as after a kill at that moment.
// The process continues afterwards, even after an error.
func (p *Process) Frozen(do func() error) (err error) {
	if err := freeze(p.PID); err != nil {
		return errors.Join(fmt.Errorf("freeze %s (pid %d): %w", p.Name, p.PID, err), thaw(p.PID))
	}
	defer func() {
		if thawed := thaw(p.PID); thawed != nil {
			err = errors.Join(err, fmt.Errorf("thaw %s (pid %d): %w", p.Name, p.PID, thawed))
		}
	}()
	return do()
}
