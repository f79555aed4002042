package reports

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/reports/internal/folder"
)

// The shortest pause between two writes of the reports during the run, and the pause as a multiple of the last write's
// duration: a run of many scenarios spends little of its time on reports.
const (
	writeInterval = 250 * time.Millisecond
	writeShare    = 20
)

// FileFormat is one report in a file of its own.
type FileFormat struct {
	// File is its name in the report folder, and Encode writes it.
	File   string
	Encode func(*Run) ([]byte, error)
}

// Files keeps the reports in a folder: it writes them when the run starts, soon after a scenario or a setup step ends,
// at an interrupt and at the end. Each file is replaced as a whole, so that it can be read at any time, also after the
// process was killed. The last writing's error is the observer's; one before it does not matter if the last succeeds.
type Files struct {
	dir     string
	formats []FileFormat
	clock   clock.WithDelayedExecution
	write   func(path string, data []byte) error

	mu sync.Mutex
	// latest is the run as it is now, begun the one that was written last or is being written.
	latest, begun *Run
	next          time.Time
	timer         clock.Timer
	closed        bool
	// unlock lets other processes use the folder.
	unlock func()
	// denied: the folder could not be prepared or locked, so nothing is written there.
	denied bool

	// writing is held while files are written, so that Observe need not wait for a writing in the background; it guards
	// written, the run that the files hold.
	writing sync.Mutex
	written *Run
}

// NewFiles returns an observer that writes reports into the folder. The folder is made if it does not exist.
func NewFiles(dir string, clk clock.WithDelayedExecution, formats ...FileFormat) *Files {
	return &Files{dir: dir, formats: formats, clock: clk, write: ReplaceFile, unlock: func() {}}
}

// Observe implements Observer.
func (f *Files) Observe(e Event) error {
	f.mu.Lock()
	f.latest = e.Run
	denied := f.denied
	f.mu.Unlock()
	if denied {
		return nil
	}
	switch e.Kind {
	case RunStarted:
		if err := f.prepare(); err != nil {
			f.mu.Lock()
			f.denied = true
			f.mu.Unlock()
			return err
		}
		return f.writeAll()
	case RunInterrupted:
		// An error that persists is reported at the end.
		_ = f.writeAll()
	case RunFinished:
		f.stop()
		defer f.unlock()
		return f.writeAll()
	case SetupFinished, StepFinished, ScenarioFinished:
		f.schedule()
	case SetupStarted, ScenarioStarted, StepStarted, StepAttempted:
	}
	return nil
}

// prepare makes and locks the folder, and removes what a killed process, or the failed scenarios of an earlier run,
// left in it.
func (f *Files) prepare() error {
	unlock, err := LockFolder(f.dir)
	if err != nil {
		return err
	}
	f.unlock = unlock
	return errors.Join(folder.Sweep(f.dir), sweepArtifacts(f.dir))
}

// LockFolder makes a report folder, and locks it until unlock is called or the process ends. It returns an error if
// another process writes in it.
func LockFolder(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the report folder: %w", err)
	}
	return folder.Lock(dir)
}

// Remove removes reports of earlier runs from folders; named returns their names in a folder. If another process writes
// in one of the folders, it removes nothing.
func Remove(folders []string, named func(dir string) []string) error {
	for _, dir := range folders {
		unlock, err := folder.Lock(dir)
		if err != nil {
			return err
		}
		defer unlock()
	}
	var errs []error
	for _, dir := range folders {
		for _, name := range named(dir) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove a report of an earlier run: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// schedule makes sure that the files are written soon.
func (f *Files) schedule() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil || f.closed {
		return
	}
	// The clock may hold its own lock during the call.
	f.timer = f.clock.AfterFunc(max(f.next.Sub(f.clock.Now()), 0), func() { go f.flush() })
}

func (f *Files) flush() {
	// An error that persists is reported at the end.
	_ = f.writeAll()
	f.mu.Lock()
	f.timer = nil
	changed := f.latest != f.begun
	f.mu.Unlock()
	if changed {
		f.schedule()
	}
}

func (f *Files) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.timer != nil {
		f.timer.Stop()
	}
}

// writeAll writes every report of the latest run, unless the files already contain it.
func (f *Files) writeAll() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	began := f.clock.Now()
	f.mu.Lock()
	run := f.latest
	f.begun = run
	f.mu.Unlock()
	if run == f.written {
		return nil
	}
	var errs []error
	for _, format := range f.formats {
		data, err := format.Encode(run)
		if err == nil {
			err = f.write(filepath.Join(f.dir, format.File), data)
		}
		errs = append(errs, err)
	}
	f.mu.Lock()
	now := f.clock.Now()
	f.next = now.Add(max(writeInterval, writeShare*now.Sub(began)))
	f.mu.Unlock()
	err := errors.Join(errs...)
	if err == nil {
		f.written = run
	}
	return err
}

// ReplaceFile writes a report atomically: a reader of the file sees either the whole old report or the whole new one.
func ReplaceFile(path string, data []byte) error { return folder.ReplaceFile(path, data) }
