package gates

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// write prints an answer for a person.
func write(out io.Writer, answer Answer) error {
	var rows [][]string
	switch {
	case answer.Hops != nil:
		rows = hopRows(answer.Hops)
	case len(answer.LookedAt) == 1:
		rows = append([][]string{{"Kubernetes " + answer.LookedAt[0]}}, gateRows(answer.Gates, "GATE",
			func(d features.Description) string { return d.Gate })...)
	default:
		rows = historyRows(answer.Gates)
	}
	if len(answer.NotLookedAt) > 0 {
		rows = append(rows, []string{""})
	}
	for _, what := range clusters.SortedKeys(answer.NotLookedAt) {
		rows = append(rows, []string{fmt.Sprintf("Not in the cache: %s; get it with %s.", what, answer.NotLookedAt[what])})
	}
	return cli.WriteTable(out, rows)
}

// historyRows returns a table of versions for each gate.
func historyRows(all []features.Description) [][]string {
	var rows [][]string
	for len(all) > 0 {
		gate := all[0].Gate
		n := slices.IndexFunc(all, func(d features.Description) bool { return d.Gate != gate })
		if n < 0 {
			n = len(all)
		}
		if len(rows) > 0 {
			rows = append(rows, []string{""})
		}
		rows = append(rows, []string{gate})
		rows = append(rows, gateRows(all[:n], "VERSION", func(d features.Description) string { return d.Version })...)
		all = all[n:]
	}
	return rows
}

// gateRows returns a table of gates. Its first column is the key.
func gateRows(all []features.Description, by string, key func(features.Description) string) [][]string {
	rows := [][]string{{by, "STAGE", "SINCE", "DEFAULT", "COMPONENTS", "NOTES"}}
	for _, d := range all {
		if !d.Known {
			rows = append(rows, []string{key(d), "-", "-", "-", "-", fmt.Sprintf("Kubernetes %s does not know it", d.Version)})
			continue
		}
		since := d.Spec.Since
		if since == "0.0" {
			since = "-" // the list does not contain it
		}
		rows = append(rows, []string{key(d), string(d.Spec.Stage), since, value(*d.Spec), componentsOf(d), notesOf(d)})
	}
	return rows
}

// notesOf returns what a gate depends on, and what a flag would change.
func notesOf(d features.Description) string {
	var notes []string
	if len(d.Needs) > 0 {
		notes = append(notes, "needs "+strings.Join(d.Needs, ", "))
	}
	if len(d.NeededBy) > 0 {
		notes = append(notes, "needed by "+strings.Join(d.NeededBy, ", "))
	}
	for _, s := range d.Specs {
		if s.Since == d.Spec.Since && s.MinCompatibility != d.Spec.MinCompatibility {
			notes = append(notes, fmt.Sprintf("%s with --min-compatibility-version=%s", value(s), s.MinCompatibility))
		}
	}
	return strings.Join(notes, "; ")
}

func value(s features.Spec) string {
	text := onOff(s.Default)
	if s.Locked {
		text += ", locked"
	}
	return text
}

func onOff(value bool) string {
	if value {
		return "on"
	}
	return "off"
}

// componentsOf names the components that know a gate, with their own default if it differs.
func componentsOf(d features.Description) string {
	var names, others []string
	for _, component := range clusters.SortedKeys(d.Components) {
		names = append(names, short(component))
		if own := d.Components[component]; own != d.Spec.Default {
			others = append(others, fmt.Sprintf("%s in %s", onOff(own), short(component)))
		}
	}
	if len(others) > 0 {
		return shortened(names) + " (" + strings.Join(others, ", ") + ")"
	}
	return shortened(names)
}

// shortened joins the names of components: "all" for those of a control plane, "not known" for none.
func shortened(names []string) string {
	switch len(names) {
	case 0:
		return "not known"
	case len(clusters.ControlPlane()):
		return "all"
	}
	return strings.Join(names, ", ")
}

func short(c clusters.Component) string { return strings.TrimPrefix(string(c), "kube-") }

// hopRows returns a table of flips for each part of a path.
func hopRows(hops []Hop) [][]string {
	var rows [][]string
	for i, hop := range hops {
		if i > 0 {
			rows = append(rows, []string{""})
		}
		rows = append(rows, []string{fmt.Sprintf("%s -> %s: %s", hop.From, hop.To, counted(hop.Flips))})
		if len(hop.Flips) == 0 {
			continue
		}
		rows = append(rows, []string{"CHANGE", "GATE", hop.From, hop.To, "COMPONENTS"})
		for _, f := range hop.Flips {
			var names []string
			for _, component := range f.Components {
				names = append(names, short(component))
			}
			before, after, _ := strings.Cut(f.String(), " -> ")
			rows = append(rows, []string{string(f.Kind), f.Gate, before, after, shortened(names)})
		}
	}
	return rows
}

// counted returns the number of flips of each kind.
func counted(flips []features.Flip) string {
	var words []string
	for _, kind := range features.FlipKinds() {
		n := 0
		for _, f := range flips {
			if f.Kind == kind {
				n++
			}
		}
		switch {
		case n == 0:
		case n > 1 && (kind == features.TurnsOn || kind == features.TurnsOff):
			words = append(words, fmt.Sprintf("%d %s", n, strings.Replace(string(kind), "turns", "turn", 1)))
		default:
			words = append(words, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(words) == 0 {
		return "nothing flips"
	}
	return strings.Join(words, ", ")
}
