package page

import (
	"html/template"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
)

// anchors are the names of scenarios in links. Each name is there once: a page of several runs has scenarios with
// equal names.
type anchors map[*reports.Scenario]string

func anchorsOf(run *reports.Run) anchors {
	all, taken := anchors{}, map[string]bool{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			name := anchor(s.Name)
			for n := 2; taken[name]; n++ {
				name = anchor(s.Name) + "-" + strconv.Itoa(n)
			}
			all[s], taken[name] = name, true
		}
	}
	return all
}

// anchor returns a name without the characters that separate the parts of a link.
func anchor(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '/' || r == '?' || r == '#' || r == '"' {
			return '-'
		}
		return r
	}, name)
}

// step returns the link to a step of a scenario, from 0.
func (a anchors) step(s *reports.Scenario, i int) string { return a[s] + "/" + strconv.Itoa(i+1) }

// file is a file of a scenario. Link is "" if the page cannot link it.
type file struct {
	Name string `json:"n"`
	Link string `json:"l,omitempty"`
}

// filesOf returns the files of a scenario that did not pass.
func filesOf(s *reports.Scenario, link func(string) string) []file {
	var all []file
	if s.Status == reports.Passed {
		return nil
	}
	for _, artifact := range s.Artifacts {
		one := file{Name: path.Base(artifact)}
		if link != nil {
			one.Link = (&url.URL{Path: link(artifact)}).String()
		}
		all = append(all, one)
	}
	return all
}

// Beside links a file of the report folder from a page in that folder.
func Beside(artifact string) string {
	if !filepath.IsLocal(filepath.FromSlash(artifact)) {
		return ""
	}
	return artifact
}

// focused are the commands whose --focus selects scenarios by their names in the report.
var focused = regexp.MustCompile(`^rehearse (run|conformance) `)

// selecting are the flags that select the scenarios of a run, or of a shard. Values may be quoted for a shell.
var selecting = regexp.MustCompile(` --(?:shard|timings|focus)=(?:'[^']*'|\\'|[^\s'])+`)

// alone returns the command that runs only one scenario; "" if the page does not know it. Runs with different commands
// have no common one. Generated cases, which are in no file, have none.
func alone(run *reports.Run, s *reports.Scenario) string {
	commands := strings.Split(selecting.ReplaceAllString(run.Command, ""), "\n")
	if s.File == "" || len(slices.Compact(commands)) != 1 || !focused.MatchString(commands[0]) {
		return ""
	}
	name := "^" + regexp.QuoteMeta(s.Name) + "$"
	return commands[0] + " --focus='" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// address is an address in a text.
var address = regexp.MustCompile(`https?://[^\s<>"'()\[\]]*[^\s<>"'()\[\].,;:!?]`)

// linked returns a text as HTML. In that of a known issue, addresses are links; those in other messages lead to
// clusters that are gone.
func linked(status reports.Status, text string) template.HTML {
	var b strings.Builder
	rest, found := 0, address.FindAllStringIndex(text, -1)
	if status != reports.Known {
		found = nil
	}
	for _, at := range found {
		to := template.HTMLEscapeString(text[at[0]:at[1]])
		b.WriteString(template.HTMLEscapeString(text[rest:at[0]]) + `<a href="` + to + `">` + to + `</a>`)
		rest = at[1]
	}
	b.WriteString(template.HTMLEscapeString(text[rest:]))
	return template.HTML(b.String()) //nolint:gosec // each part is escaped
}
