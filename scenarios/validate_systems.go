package scenarios

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
)

// systems checks the systems of a first state.
func (v *validator) systems(list []clusters.System, n *node) {
	seen := map[string]bool{}
	for i, s := range list {
		at := n.at(i)
		v.systemName(s.Name, at, seen)
		v.system(s, at)
		if s.Kind() == "" {
			v.at(at, "simulated: {} runs the simulator of that name",
				"say what the system %q is: simulated, process, module or manifests", short(s.Name))
		}
		v.wholeSystem(s, at)
	}
}

// systemChanges checks what the i-th step, a transition, does to the systems.
func (v *validator) systemChanges(s *Scenario, i int, list []clusters.SystemChange, n *node) {
	before, seen := stateBefore(s, i), map[string]bool{}
	for j, c := range list {
		at := n.at(j)
		v.systemName(c.Name, at, seen)
		v.system(c.System, at)
		_, there := before.System(c.Name)
		after, _ := before.With(clusters.Change{Systems: []clusters.SystemChange{c}}).System(c.Name)
		switch {
		case c.Remove && len(at.entries) > 2:
			v.at(at.key("remove"), "", "a system that is removed has no other fields")
		case c.Remove && !there:
			v.at(at.at("name"), suggest(c.Name, systemNames(before), "systems here"), "no system %q is there to be removed",
				short(c.Name))
		case c.Remove:
		case !there && c.Kind() == "":
			v.at(at.at("name"), suggest(c.Name, systemNames(before), "systems here"),
				"no system %q is there to be changed; a new one is simulated, a process, a module or manifests", short(c.Name))
		case len(at.entries) < 2:
			v.at(at, "give version, simulated, process, module, manifests, probes or remove", "a system that does not change")
		default:
			v.wholeSystem(after, at)
		}
	}
}

// stateBefore is the state in which the i-th step begins.
func stateBefore(s *Scenario, i int) clusters.State {
	state := s.Spec.Cluster
	for _, step := range s.Spec.Steps[:i] {
		if step.Transition != nil {
			state = state.With(step.Transition.Change)
		}
	}
	return state
}

func systemNames(state clusters.State) []string {
	var names []string
	for _, s := range state.Systems {
		names = append(names, s.Name)
	}
	return names
}

func (v *validator) systemName(name string, n *node, seen map[string]bool) {
	for _, message := range validation.IsDNS1123Label(name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.at(n.at("name"), "such as lws", "a system's name %q: %s", short(name), message)
	}
	if seen[name] {
		v.at(n.at("name"), "", "two systems are called %q", short(name))
	}
	seen[name] = true
}

// system checks what is said of a system, whether it is all of it or a change.
func (v *validator) system(s clusters.System, n *node) {
	var kinds []string
	for _, kind := range []string{"simulated", "process", "module", "manifests"} {
		if n.get(kind) != nil {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 1 {
		v.at(n.key(kinds[1]), "", "a system is one of simulated, process, module and manifests; this one is %s",
			strings.Join(kinds, " and "))
	}
	if s.Simulated != nil {
		for _, field := range []string{"version", "probes"} {
			if n.get(field) != nil {
				v.at(n.key(field), "a simulator has variants, and probes of its own", "a simulated system has no %s", field)
			}
		}
		for i, fault := range s.Simulated.Faults {
			if slices.Contains(s.Simulated.Faults[:i], fault) {
				v.at(n.at("simulated", "faults", i), "", "the fault %q is here a second time", short(fault))
			}
		}
		for i, liberty := range s.Simulated.Liberties {
			if slices.Contains(s.Simulated.Liberties[:i], liberty) {
				v.at(n.at("simulated", "liberties", i), "", "the liberty %q is here a second time", short(liberty))
			}
		}
	}
	for way, text := range s.Texts {
		v.systemText(text, n.at(way...), s)
	}
	for i, manifest := range s.Manifests {
		v.manifest(manifest, n.at("manifests", i))
	}
	for i, probe := range s.Probes {
		v.probe(probe, n.at("probes", i))
	}
	if p := s.Process; p != nil && n.get("process").get("command") != nil && (len(p.Command) == 0 || p.Command[0] == "") {
		v.at(n.at("process", "command"), "", "a command is a program and its arguments")
	}
	if p := s.Launched(); p != nil {
		v.process(p, n.get(s.Kind()))
	}
}

// systemText checks the placeholders of a text. In a manifest's name only the version can be known.
func (v *validator) systemText(text string, n *node, s clusters.System) {
	known := clusters.SystemPlaceholders()
	versionOnly := s.Launched() == nil
	switch {
	case versionOnly:
		known = []string{"VERSION"}
	case s.Module == nil && clusters.NamesModule(text):
		v.at(n, "", "$(%s) is the folder of a system that is a module", clusters.ModuleDir)
		return
	}
	_, err := clusters.ExpandSystem(text, func(name string) (string, bool) { return name, slices.Contains(known, name) })
	switch {
	case err != nil && versionOnly:
		v.at(n, "", "only $(VERSION) may stand in a manifest's name; write $$( for a plain $(")
	case err != nil:
		v.at(n, "", "%v", err)
	}
}

func (v *validator) manifest(manifest string, n *node) {
	name, fragment, hasFragment := strings.Cut(manifest, "#")
	checksum, ok := strings.CutPrefix(fragment, "sha256=")
	switch decoded, err := hex.DecodeString(checksum); {
	case name == "":
		v.at(n, "", "a manifest is a file or an address")
	case strings.HasPrefix(name, "http://"):
		v.at(n, "write https://", "what is fetched without TLS can be anybody's")
	case hasFragment && (!ok || err != nil || len(decoded) != 32):
		v.at(n, "", "what is behind # must be sha256= and 64 hexadecimal digits")
	}
}

func (v *validator) probe(probe map[string]any, n *node) {
	for _, field := range []string{"apiVersion", "kind"} {
		if text, _ := probe[field].(string); text == "" {
			v.at(n.at(field), "", "a probe is an object: it needs %s, a text", field)
		}
	}
}

// systemObject checks an object that is applied for a system.
func (v *validator) systemObject(object map[string]any, n *node) {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []struct {
		name string
		of   map[string]any
	}{{"apiVersion", object}, {"kind", object}, {"name", metadata}} {
		if text, _ := field.of[field.name].(string); text == "" {
			v.at(n, "", "an object of a system needs apiVersion, kind and metadata.name; this one has no %s", field.name)
			return
		}
	}
}

func (v *validator) process(p *clusters.SystemProcess, n *node) {
	for _, name := range clusters.SortedKeys(p.Env) {
		if name == "" || strings.ContainsAny(name, "= ") {
			v.at(n.at("env").key(name), "", "%q is no name of an environment variable", short(name))
		}
	}
	for _, name := range clusters.SortedKeys(p.Files) {
		if name == "" || strings.HasPrefix(name, ".") || strings.ContainsRune(name, '/') ||
			slices.Contains([]string{"kubeconfig", "certs", "logs"}, name) {
			v.at(n.at("files").key(name), "such as config.yaml", "a file in the system's folder cannot be called %q",
				short(name))
		}
	}
	if p.CertDir != "" && (!filepath.IsLocal(p.CertDir) || slices.Contains([]string{".", "kubeconfig", "logs"},
		filepath.Clean(p.CertDir))) {
		v.at(n.at("certDir"), "such as k8s-webhook-server/serving-certs", "%q is no folder in the system's folder",
			short(p.CertDir))
	}
	if n.get("webhookPort") != nil && (p.WebhookPort < 1 || p.WebhookPort > 65535) {
		v.at(n.at("webhookPort"), "", "a port is a number from 1 to 65535")
	}
	for i, object := range p.Objects {
		v.systemObject(object, n.at("objects", i))
	}
	if r := p.Ready; r != nil && (r.HTTPGet == "") == (r.TCP == "") {
		v.at(n.at("ready"), "", "give either httpGet or tcp")
	}
}

// wholeSystem checks a system with all that is known of it.
func (v *validator) wholeSystem(s clusters.System, n *node) {
	if s.Process != nil && len(s.Process.Command) == 0 {
		v.at(n.at("process"), "", "the field %q is missing", "command")
	}
	if program, ok := s.Program(); ok {
		if err := program.Check(); err != nil {
			v.at(n, "", "system %q: %v", short(s.Name), err)
		}
	}
	if s.Manifests != nil && len(s.Manifests) == 0 {
		v.at(n.at("manifests"), "", "no manifest is named")
	}
	if s.Version != "" {
		return
	}
	for _, text := range s.Texts {
		_, err := clusters.ExpandSystem(text, func(name string) (string, bool) { return name, name != "VERSION" })
		if err != nil {
			v.at(n, fmt.Sprintf("add version: to the system %q", short(s.Name)),
				"$(VERSION) stands in it, but it has no version")
			return
		}
	}
}
