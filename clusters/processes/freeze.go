package processes

import (
	"errors"
	"fmt"
)

// Frozen does something while the process stands still (SIGSTOP): its files are then as they would be had it been
// killed at that moment. It goes on afterwards, whatever came of it.
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
