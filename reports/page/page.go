// Package page writes report.html: one file that shows a run, without any other file, network or build step.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"

	"github.com/rehearse-dev/rehearse/reports"
)

// File is the page's name in a report folder.
const File = "report.html"

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var styles string

//go:embed script/base.js
var baseScript string

//go:embed script/timeline.js
var timelineScript string

//go:embed script/details.js
var detailsScript string

//go:embed script/objects.js
var objectsScript string

//go:embed script/filters.js
var filtersScript string

// Of returns the page of a run. files is the report folder with the histories and logs of its scenarios; nil for
// none. link returns the path from the page to a file in files; "" if the page cannot link it. Without link, the page
// names files only.
func Of(run *reports.Run, files fs.FS, link func(file string) string) ([]byte, error) {
	c := collector{run: run, histories: readHistories(run, files), files: files, anchors: anchorsOf(run), link: link}
	data, left, err := c.data()
	if err != nil {
		return nil, err
	}
	v := c.view()
	if left != "" {
		v.Notes = append(v.Notes, left)
	}
	v.Data = template.HTML(data) //nolint:gosec // base64
	return render(v)
}

func render(v *view) ([]byte, error) {
	page, err := template.New(File).Funcs(template.FuncMap{
		"linked": linked,
		"sign":   reports.Sign,
		"word":   word,
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("read the template of %s: %w", File, err)
	}
	v.Styles = template.CSS(styles) //nolint:gosec // our own
	script := baseScript + timelineScript + detailsScript + objectsScript + filtersScript
	v.Script = template.JS("(() => {\n'use strict';\n" + script + "start();\n})();\n") //nolint:gosec // our own
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("write %s: %w", File, err)
	}
	return b.Bytes(), nil
}

// word returns the word for a status.
func word(s reports.Status) string {
	if s == reports.Known {
		return "known issue"
	}
	return reports.StatusWord(s)
}
