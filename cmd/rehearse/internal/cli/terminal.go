package cli

import (
	"io"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// TerminalConfig is how a run is shown on an output. report is the path of its page, "" for none.
func TerminalConfig(out io.Writer, report string) terminal.Config {
	config := terminal.Config{
		Out: Guarded(out), TTY: IsTerminal(out) && os.Getenv("TERM") != "dumb", Report: report, Clock: clock.RealClock{},
		Unicode: terminal.UnicodeWanted(os.Getenv), Color: terminal.ColorWanted(os.Getenv),
	}
	if config.TTY && report != "" && terminal.LinksWanted(os.Getenv) {
		config.ReportLink = fileAddress(report)
	}
	if file, ok := out.(*os.File); ok {
		config.Width = func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	return config
}

// fileAddress returns the address of a file on this machine; "" if its path is unknown.
func fileAddress(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	host, err := os.Hostname() // tells a terminal on another machine (over SSH) that the file is not there
	if err != nil {
		host = ""
	}
	return (&url.URL{Scheme: "file", Host: host, Path: absolute}).String()
}
