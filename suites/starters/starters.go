// Package starters writes first scenarios and suites. Each runs unchanged, and marks what the user must fill in.
package starters

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
	"unicode"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/harness/manifests"
)

//go:embed templates
var templates embed.FS

// File is a written file, with its path.
type File struct {
	Path string
	Text []byte
}

// Scenario describes a first scenario, about a feature gate, an upgrade, or a system.
type Scenario struct {
	// Command that writes the scenario, and File it is written to.
	Command, File string
	// Name of the scenario. Default: the name of the gate, the system or the upgrade.
	Name string
	// KEP is the number of the enhancement; "" if the user will fill it in.
	KEP string
	// Gate that is off, on, off and on again; nil for none.
	Gate *Gate
	// From and To are minor versions of Kubernetes. With a gate both may be "": then all steps use the gate's version.
	From, To string
	// Flips are the gates that change between From and To, if both lists are known.
	Flips []features.Flip
	// System under test; nil for none.
	System *System
	// Objects that are created. Default: a Deployment or a ConfigMap as a placeholder.
	Objects []*manifests.Object
}

// System under test.
type System struct {
	Name string
	// Simulator of this project; "" for the user's own system.
	Simulator string
	// Definition of the user's own system, as in a scenario; nil if the user will fill it in.
	Definition map[string]any
}

// InPods reports whether the system runs in pods of the cluster, which local clusters cannot run.
func (s Scenario) InPods() bool { return s.System != nil && s.System.Definition["manifests"] != nil }

// Write returns the text of the scenario.
func (s Scenario) Write() ([]byte, error) {
	v, err := newView(s)
	if err != nil {
		return nil, err
	}
	name := "system"
	switch {
	case s.Gate != nil:
		name = "gate"
	case s.System == nil:
		name = "upgrade"
	}
	return render(name+".yaml.tmpl", v)
}

// DefaultName is the scenario's default name. It is also a valid file name.
func (s Scenario) DefaultName() string {
	switch {
	case s.Gate != nil:
		return kebab(s.Gate.Name)
	case s.System != nil:
		return s.System.Name
	default:
		return "upgrade-" + strings.ReplaceAll(s.From+"-"+s.To, ".", "-")
	}
}

// render fills a template.
func render(name string, data any) ([]byte, error) {
	parsed, err := template.New(name).Funcs(functions()).ParseFS(templates, "templates/*.tmpl", "templates/suite/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.ExecuteTemplate(&out, name, data); err != nil {
		return nil, fmt.Errorf("write %s: %w", strings.TrimSuffix(name, ".tmpl"), err)
	}
	return out.Bytes(), nil
}

// kebab converts RelaxedServiceNameValidation to relaxed-service-name-validation.
func kebab(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || unicode.IsDigit(letters[i-1]) ||
			i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// minors returns the minor versions from one to a newer one, both included.
func minors(from, to string) ([]string, error) {
	a, err := clusters.ParseVersion(from)
	if err != nil {
		return nil, err
	}
	b, err := clusters.ParseVersion(to)
	if err != nil {
		return nil, err
	}
	if a.Major != b.Major || a.Compare(b) >= 0 {
		return nil, fmt.Errorf("--from %s --to %s: want a version to begin with and a newer one, such as --from 1.35 "+
			"--to 1.36", from, to)
	}
	all := []string{from}
	for v := a; v.Minor+1 < b.Minor; {
		v.Minor++
		all = append(all, v.MinorString())
	}
	return append(all, to), nil
}
