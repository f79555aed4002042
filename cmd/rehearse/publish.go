package main

import (
	"io"
	"os"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// fileFormats are the reports of a run beside run.json.
func fileFormats(dir string) []reports.FileFormat {
	formats := []reports.FileFormat{page.Format(dir)}
	if attach := ci.Attachments(dir, os.Getenv); attach != nil {
		formats = append(formats, reports.FileFormat{File: "junit.xml", Encode: reports.JUnitAttaching(attach)})
	}
	return formats
}

// publish hands the reports to the CI system that the run is in, if it is in one.
func publish(run *reports.Run, dir string, out io.Writer) error {
	return ci.Publish(run, dir, os.Getenv, out)
}
