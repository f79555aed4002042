package states

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Systems checks the systems of a first state.
func (v *Check) Systems(list []clusters.System, n *yamltree.Node) {
	seen := map[string]bool{}
	for i, s := range list {
		at := n.At(i)
		v.name("system", "lws", s.Name, at, seen)
		v.system(s, at)
		if s.Kind() == "" {
			v.At(at, "simulated: {} runs the simulator of that name",
				"give the system %q one of simulated, process, module and manifests", words.Short(s.Name))
		}
		v.wholeSystem(s, at)
		v.webhookPort(s, list[:i], at)
	}
}

// webhookPort checks that no other system listens on a port that a system's program cannot choose.
func (v *Check) webhookPort(s clusters.System, others []clusters.System, n *yamltree.Node) {
	own := s.At(s.Version).Launched()
	if own == nil || own.WebhookPort == 0 {
		return
	}
	for _, other := range others {
		if p := other.At(other.Version).Launched(); other.Name != s.Name && p != nil && p.WebhookPort == own.WebhookPort {
			v.At(n, "", "the systems %q and %q cannot both listen on port %d (webhookPort)", words.Short(other.Name),
				words.Short(s.Name), own.WebhookPort)
		}
	}
}

// SystemChanges checks what a transition from a state does to its systems.
func (v *Check) SystemChanges(before clusters.State, list []clusters.SystemChange, n *yamltree.Node) {
	seen := map[string]bool{}
	for j, c := range list {
		at := n.At(j)
		v.name("system", "lws", c.Name, at, seen)
		v.system(c.System, at)
		_, there := before.System(c.Name)
		after, _ := before.With(clusters.Change{Systems: []clusters.SystemChange{c}}).System(c.Name)
		switch {
		case c.Remove && len(at.Entries) > 2:
			v.At(at.Key("remove"), "", "a removed system has no other fields")
		case c.Remove && !there:
			v.At(at.At("name"), words.Suggest(c.Name, SystemNames(before), "systems here"),
				"there is no system %q to remove",
				words.Short(c.Name))
		case c.Remove:
		case !there && c.Kind() == "":
			v.At(at.At("name"), words.Suggest(c.Name, SystemNames(before), "systems here"),
				"there is no system %q to change; a new one needs simulated, process, module or manifests",
				words.Short(c.Name))
		case len(at.Entries) < 2:
			v.At(at, "give version, simulated, process, module, manifests, probes, webhookCalls or remove",
				"the system does not change")
		default:
			v.wholeSystem(after, at)
			v.webhookPort(after, before.With(clusters.Change{Systems: list}).Systems, at)
		}
	}
}

// SystemNames are the names of the systems of a state.
func SystemNames(state clusters.State) []string {
	var names []string
	for _, s := range state.Systems {
		names = append(names, s.Name)
	}
	return names
}

// system checks the fields of a system, in a definition or in a change.
func (v *Check) system(s clusters.System, n *yamltree.Node) {
	var kinds []string
	for _, kind := range []string{"simulated", "process", "module", "manifests"} {
		if n.Get(kind) != nil {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 1 {
		v.At(n.Key(kinds[1]), "", "a system has one of simulated, process, module and manifests; this one has %s",
			strings.Join(kinds, " and "))
	}
	if s.Simulated != nil {
		for _, field := range []string{"version", "versions", "probes"} {
			if n.Get(field) != nil {
				v.At(n.Key(field), "a simulator has variants and built-in probes", "a simulated system has no %s",
					field)
			}
		}
		for i, fault := range s.Simulated.Faults {
			if slices.Contains(s.Simulated.Faults[:i], fault) {
				v.At(n.At("simulated", "faults", i), "", "the fault %q is repeated", words.Short(fault))
			}
		}
		for i, liberty := range s.Simulated.Liberties {
			if slices.Contains(s.Simulated.Liberties[:i], liberty) {
				v.At(n.At("simulated", "liberties", i), "", "the liberty %q is repeated", words.Short(liberty))
			}
		}
	}
	if s.WebhookCalls != nil {
		v.webhookCalls(s.WebhookCalls, n.At("webhookCalls"))
	}
	for way, text := range s.Texts {
		v.systemText(text, n.At(way...), s)
	}
	for i, manifest := range s.Manifests {
		v.manifest(manifest, n.At("manifests", i))
	}
	for i, probe := range s.Probes {
		v.probe(probe, n.At("probes", i))
	}
	if p := s.Process; p != nil && n.Get("process").Get("command") != nil && (len(p.Command) == 0 || p.Command[0] == "") {
		v.At(n.At("process", "command"), "", "a command is a program and its arguments")
	}
	if p := s.Launched(); p != nil {
		v.process(p, n.Get(s.Kind()))
	}
	systemVersions(v, s, n)
}

func (v *Check) webhookCalls(c *clusters.WebhookCalls, n *yamltree.Node) {
	if len(n.Entries) > 1 {
		v.At(n.Entries[1].Key, "use several transitions, one after the other",
			"calls of webhooks have one of away, delay and certificate")
	}
	if _, err := c.Wait(); err != nil {
		v.At(n.At("delay"), "", "%v", err)
	}
	if c.Certificate != "" && c.Certificate != clusters.CertificateExpired {
		v.At(n.At("certificate"), words.Suggest(c.Certificate, []string{clusters.CertificateExpired}, ""),
			"%q is not a supported certificate: want %s", words.Short(c.Certificate), clusters.CertificateExpired)
	}
}

// systemText checks the placeholders of a text. In a manifest's name only the version can be known.
func (v *Check) systemText(text string, n *yamltree.Node, s clusters.System) {
	known := clusters.SystemPlaceholders()
	versionOnly := s.Launched() == nil
	switch {
	case versionOnly:
		known = []string{"VERSION"}
	case s.Module == nil && clusters.NamesModule(text):
		v.At(n, "", "$(%s) is the folder of a system that is a module", clusters.ModuleDir)
		return
	}
	_, err := clusters.ExpandSystem(text, func(name string) (string, bool) { return name, slices.Contains(known, name) })
	switch {
	case err != nil && versionOnly:
		v.At(n, "", "only $(VERSION) is allowed in a manifest's name; write $$( for a literal $(")
	case err != nil:
		v.At(n, "", "%v", err)
	}
}

func (v *Check) manifest(manifest string, n *yamltree.Node) {
	name, fragment, hasFragment := strings.Cut(manifest, "#")
	checksum, ok := strings.CutPrefix(fragment, "sha256=")
	switch decoded, err := hex.DecodeString(checksum); {
	case name == "":
		v.At(n, "", "a manifest is a file or an https URL")
	case strings.HasPrefix(name, "http://"):
		v.At(n, "write https://", "a manifest fetched without TLS cannot be trusted")
	case hasFragment && (!ok || err != nil || len(decoded) != 32):
		v.At(n, "", "what is behind # must be sha256= and 64 hexadecimal digits")
	}
}

func (v *Check) probe(probe map[string]any, n *yamltree.Node) {
	for _, field := range []string{"apiVersion", "kind"} {
		if text, _ := probe[field].(string); text == "" {
			v.At(n.At(field), "", "a probe is an object: it needs %s, a string", field)
		}
	}
}

// systemObject checks an object that is applied for a system.
func (v *Check) systemObject(object map[string]any, n *yamltree.Node) {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []struct {
		name string
		of   map[string]any
	}{{"apiVersion", object}, {"kind", object}, {"name", metadata}} {
		if text, _ := field.of[field.name].(string); text == "" {
			v.At(n, "", "an object of a system needs apiVersion, kind and metadata.name; this one has no %s", field.name)
			return
		}
	}
}

func (v *Check) process(p *clusters.SystemProcess, n *yamltree.Node) {
	for _, name := range clusters.SortedKeys(p.Env) {
		if name == "" || strings.ContainsAny(name, "= ") {
			v.At(n.At("env").Key(name), "", "%q is not the name of an environment variable", words.Short(name))
		}
	}
	for _, name := range clusters.SortedKeys(p.Files) {
		if name == "" || strings.HasPrefix(name, ".") || strings.ContainsRune(name, '/') ||
			slices.Contains([]string{"kubeconfig", "certs", "logs"}, name) {
			v.At(n.At("files").Key(name), "such as config.yaml", "%q is not a valid name for a file "+
				"in the system's folder",
				words.Short(name))
		}
	}
	if p.CertDir != "" && (!filepath.IsLocal(p.CertDir) || slices.Contains([]string{".", "kubeconfig", "logs"},
		filepath.Clean(p.CertDir))) {
		v.At(n.At("certDir"), "such as k8s-webhook-server/serving-certs", "%q is not a folder in the system's folder",
			words.Short(p.CertDir))
	}
	if n.Get("webhookPort") != nil && (p.WebhookPort < 1 || p.WebhookPort > 65535) {
		v.At(n.At("webhookPort"), "", "a port is a number from 1 to 65535")
	}
	for i, object := range p.Objects {
		v.systemObject(object, n.At("objects", i))
	}
	if r := p.Ready; r != nil {
		if (r.HTTPGet == "") == (r.TCP == "") {
			v.At(n.At("ready"), "", "give either httpGet or tcp")
		}
		if _, err := r.Wait(); err != nil {
			v.At(n.At("ready", "initialDelay"), "", "%v", err)
		}
	}
}

// wholeSystem checks a system with all of its fields, after a change.
func (v *Check) wholeSystem(s clusters.System, n *yamltree.Node) {
	versionOfSystem(v, s, n)
	systemService(v, s.At(s.Version), n)
	s = s.At(s.Version)
	if s.Process != nil && len(s.Process.Command) == 0 {
		v.At(n.At("process"), "", "the field %q is missing", "command")
	}
	if program, ok := s.Program(); ok {
		if err := program.Check(); err != nil {
			v.At(n, "", "system %q: %v", words.Short(s.Name), err)
		}
	}
	if s.Kind() == "manifests" && !s.WebhookCalls.Usual() {
		v.At(n.At("webhookCalls"), "", "the webhooks of a system with manifests run in the cluster, where rehearse "+
			"cannot put a proxy in front of them")
	}
	if s.Manifests != nil && len(s.Manifests) == 0 {
		v.At(n.At("manifests"), "", "there are no manifests")
	}
	if s.Version != "" {
		return
	}
	for _, text := range s.Texts {
		_, err := clusters.ExpandSystem(text, func(name string) (string, bool) { return name, name != "VERSION" })
		if err != nil {
			v.At(n, fmt.Sprintf("add version: to the system %q", words.Short(s.Name)),
				"it contains $(VERSION), but the system has no version")
			return
		}
	}
}
