package starters

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports/prr"
)

// mostFlips is the maximal number of gates with a changed default that are named.
const mostFlips = 12

// transition is a transition of the scenario.
type transition struct {
	Name   string
	fields []string
}

// Change is the transition's change, in one line of YAML.
func (t transition) Change() string { return "{" + strings.Join(t.fields, ", ") + "}" }

// view is a scenario as the templates see it.
type view struct {
	Scenario
	// Objects replace those of Scenario. FilledIn: they are the user's, not placeholders.
	Objects  []object
	FilledIn bool
	// Version is the first version, and Setting is the gate's setting there; "" if the version does not have the gate.
	Version, Setting string
	// Up, Down and Again are the transitions to the newer version or the gate, back, and there again.
	Up, Down, Again []transition
	// MoreFlips is how many more gates change their default.
	MoreFlips int
}

func newView(s Scenario) (*view, error) {
	v := &view{Scenario: s, FilledIn: len(s.Objects) > 0}
	if v.Name == "" {
		v.Name = s.DefaultName()
	}
	var err error
	if v.Objects, err = objectsOf(s.Objects); err != nil {
		return nil, err
	}
	if len(v.Objects) == 0 {
		v.Objects = placeholders(s)
	}
	v.Flips = nil
	for _, f := range s.Flips {
		switch {
		case !f.ChangesDefault():
		case len(v.Flips) < mostFlips:
			v.Flips = append(v.Flips, f)
		default:
			v.MoreFlips++
		}
	}
	if s.Gate != nil {
		return v, v.gatePath()
	}
	return v, v.versionPath()
}

// placeholders are objects that the user will replace.
func placeholders(s Scenario) []object {
	if s.Gate != nil || s.System != nil {
		return []object{{"v1", "ConfigMap", "user", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "user"},
			"data": map[string]any{"uses": "the feature"},
		}}}
	}
	labels := map[string]any{"app": "web"}
	return []object{{"apps/v1", "Deployment", "web", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": 2, "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}},
			},
		},
	}}}
}

// gatePath turns the gate on, off and on again, and changes the version with it if there are two versions.
func (v *view) gatePath() error {
	from := ""
	if v.From != "" {
		parsed, _ := clusters.ParseVersion(v.From) // minors reports what is wrong with it
		from = parsed.MinorString()
	}
	values := v.Gate.Values(false)
	up := []string{v.Gate.setting(v.Gate.Values(true), "", true)}
	down := []string{v.Gate.setting(values, from, true)}
	v.Version, v.Setting = v.Gate.Version, v.Gate.setting(values, from, false)
	if v.From != "" {
		path, err := minors(v.From, v.To)
		if err != nil {
			return err
		}
		if len(path) != 2 {
			return fmt.Errorf("--gate with --from %s --to %s: want two minor versions in a row", v.From, v.To)
		}
		v.Version = v.From
		if !v.hasGate(v.From) {
			v.Setting, down = "", []string{v.Gate.unset()}
		}
		up, down = append([]string{version(v.To)}, up...), append([]string{version(v.From)}, down...)
	}
	v.Up, v.Down = []transition{{"gate on", up}}, []transition{{"gate off again", down}}
	v.Again = []transition{{"gate on again", up}}
	return nil
}

// hasGate reports whether a version has the gate. It assumes so if the version is unknown.
func (v *view) hasGate(version string) bool {
	for _, d := range v.Gate.History {
		if sameMinor(d.Version, version) {
			return d.Known
		}
	}
	return true
}

func version(v string) string { return fmt.Sprintf("version: %q", v) }

// versionPath upgrades one minor version at a time, rolls back, and upgrades again.
func (v *view) versionPath() error {
	v.Version = v.From
	if v.To == "" && v.System != nil {
		return nil // it stays at its version
	}
	path, err := minors(v.From, v.To)
	if err != nil {
		return err
	}
	ways := func(verb string, versions []string) []transition {
		var all []transition
		for _, to := range versions {
			name := verb
			if len(versions) > 1 {
				name += " to " + to
			}
			all = append(all, transition{name, []string{version(to)}})
		}
		return all
	}
	back := slices.Clone(path[:len(path)-1])
	slices.Reverse(back)
	v.Up, v.Down, v.Again = ways("upgrade", path[1:]), ways("roll back", back), ways("upgrade again", path[1:])
	return nil
}

// First and Last are the names of the first and the last of all transitions, LastUp that of the last upgrade.
func (v *view) First() string  { return v.Up[0].Name }
func (v *view) LastUp() string { return v.Up[len(v.Up)-1].Name }
func (v *view) Last() string   { return v.Again[len(v.Again)-1].Name }

// User is the object that uses the feature or the system: the last one, which may need the others.
func (v *view) User() object { return v.Objects[len(v.Objects)-1] }

// Others are the objects that are created before it.
func (v *view) Others() []object { return v.Objects[:len(v.Objects)-1] }

// Workloads are the objects that roll out.
func (v *view) Workloads() []object {
	return slices.DeleteFunc(slices.Clone(v.Objects), func(o object) bool { return !o.workload() })
}

// Backward are the objects in the order in which they can be deleted.
func (v *view) Backward() []object {
	all := slices.Clone(v.Objects)
	slices.Reverse(all)
	return all
}

// Number of the enhancement, for labels and commands.
func (v *view) Number() string {
	if v.KEP == "" {
		return "0000"
	}
	return v.KEP
}

// Killable reports whether a step can kill the system.
func (v *view) Killable() bool {
	return !v.InPods() && (v.System.Simulator != "" || v.System.Definition != nil)
}

// SystemYAML is the definition of the system as an element of a list.
func (v *view) SystemYAML() (string, error) {
	definition := map[string]any{}
	for key, value := range v.System.Definition {
		definition[key] = value
	}
	delete(definition, "name")
	return indented(definition, 6)
}

// functions are the functions of the templates.
func functions() template.FuncMap {
	questions := map[string]string{
		"Toggle": prr.Toggle, "Default": prr.Default, "Disable": prr.Disable, "Reenable": prr.Reenable, "Tests": prr.Tests,
		"Impact": prr.Impact, "Metrics": prr.Metrics, "Path": prr.Path, "Removals": prr.Removals, "InUse": prr.InUse,
		"Calls": prr.Calls, "Unavailable": prr.Unavailable,
	}
	return template.FuncMap{
		"quote":        quote,
		"join":         func(words []string) string { return strings.Join(words, ", ") },
		"questionText": func(name string) string { return questions[name] },
		"state":        state,
		"question": func(name string) (string, error) {
			if questions[name] == "" {
				return "", fmt.Errorf("there is no question %s", name)
			}
			return "# " + strings.Join(wrapped(questions[name], 96), "\n  #   "), nil
		},
		"comment": func(indent int, text string) string {
			blank := strings.Repeat(" ", indent)
			return blank + "# " + strings.Join(wrapped(text, 98-indent), "\n"+blank+"# ")
		},
	}
}

// wrapped breaks a text between its words.
func wrapped(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		n := len(lines) - 1
		if n >= 0 && len(lines[n])+1+len(word) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
