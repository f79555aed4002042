package artifacts

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Logs are the log files of components, by name of the component.
type Logs map[string][]string

// maxLog is how many bytes of a log are copied, from its end.
const maxLog = 8 << 20

// Sizes returns the current sizes of the logs, by file.
func (l Logs) Sizes() map[string]int64 {
	sizes := map[string]int64{}
	for _, files := range l {
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				sizes[file] = info.Size()
			}
		}
	}
	return sizes
}

// LogPart is what was written into a log since a certain time, with the name of its copy.
type LogPart struct {
	Name string

	file string
	from int64
}

// ErrNothingLogged says that a log has nothing new.
var ErrNothingLogged = errors.New("nothing was logged")

// Since returns the parts that were written since the files had these sizes.
func (l Logs) Since(sizes map[string]int64) []LogPart {
	var parts []LogPart
	for _, component := range clusters.SortedKeys(l) {
		for i, file := range l[component] {
			parts = append(parts, LogPart{
				Name: fmt.Sprintf("%s-%d.log", clusters.Component(component).FileName(), i+1), file: file, from: sizes[file],
			})
		}
	}
	return parts
}

// CopyTo copies the part into a file.
func (l LogPart) CopyTo(path string) (err error) {
	from, err := os.Open(l.file)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Size() <= l.from {
		return ErrNothingLogged
	}
	if _, err := from.Seek(max(l.from, info.Size()-maxLog), io.SeekStart); err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(to, from, min(maxLog, info.Size()-l.from))
	return errors.Join(err, to.Close())
}
