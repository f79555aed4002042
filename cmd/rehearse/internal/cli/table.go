package cli

import (
	"io"

	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// WriteTable writes rows in columns. On a terminal, it wraps the last column.
func WriteTable(out io.Writer, rows [][]string) error {
	width := 0
	if columns := TerminalConfig(out, "").Width; columns != nil {
		width = columns()
	}
	_, err := io.WriteString(out, terminal.Table(rows, width))
	return err
}
