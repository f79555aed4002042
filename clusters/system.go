package clusters

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// System is software under test that is installed in the cluster. Exactly one of simulated, process, module and
// manifests is set.
type System struct {
	// Name of the system, unique in the cluster: lws.
	Name string `json:"name"`
	// Definition is a YAML file with the definition of the system, in the form of the file in --system NAME=module:FILE.
	// Several scenarios can share it. A relative name is relative to the file that contains it, and so are the names in
	// the definition. Beside it, a system has only the fields version, probes and webhookCalls, which replace those of
	// the definition.
	Definition string `json:"definition,omitempty"`
	// Version of the system. Its texts may contain $(VERSION), so that a transition need change only this field.
	Version string `json:"version,omitempty"`
	// Simulated runs a simulator of the system that is part of Rehearse, as a process on this machine.
	Simulated *Simulated `json:"simulated,omitempty"`
	// Process runs the system as a process on this machine.
	Process *SystemProcess `json:"process,omitempty"`
	// Module builds the system from a Go module, at the system's version, and runs it as a process on this machine.
	Module *SystemModule `json:"module,omitempty"`
	// Manifests are YAML files or https URLs of YAML files that are applied to the cluster, which runs them (kind,
	// existing). A suffix #sha256=... verifies the checksum.
	Manifests []string `json:"manifests,omitempty"`
	// Probes are objects that trigger the system's webhooks when they are created as dry runs. Each webhook that is
	// called on creation must answer before the system counts as installed. Simulators have built-in probes.
	Probes []map[string]any `json:"probes,omitempty"`
	// Versions list what changes from a given version of the system onwards, so that a transition or a matrix need change
	// only the version. Versions are compared as semantic versions.
	Versions []SystemVersion `json:"versions,omitempty"`
	// WebhookCalls makes the system's webhooks unavailable, slow, or answer with an expired certificate, while its
	// program keeps running: for a simulated system, a process or a module on a local cluster. In a transition, {} ends
	// it.
	WebhookCalls *WebhookCalls `json:"webhookCalls,omitempty"`
}

// Simulated is a simulator and its behaviour.
type Simulated struct {
	// Simulator is the name of the simulator. Default: the system's name.
	Simulator string `json:"simulator,omitempty"`
	// Faults of the simulator; "rehearse faults NAME" lists them. FAULT@PATTERN limits a fault to namespaces that match
	// the pattern ("team-a", "f1-*"), so that several can be tested side by side.
	Faults []string `json:"faults,omitempty"`
	// Liberties of the simulator: differences that the specification allows; "rehearse faults NAME" lists them.
	// NAME=SEED sets the seed for random behaviour. Default: a random seed.
	Liberties []string `json:"liberties,omitempty"`
	// Variant of the specification that the simulator follows, if it knows several.
	Variant string `json:"variant,omitempty"`
	// Config is the configuration of the simulated system, verbatim, as in the real system's configuration file; only
	// for simulators that support it.
	Config map[string]any `json:"config,omitempty"`
}

// SystemProcess runs the system as a program on this machine. Its texts may contain variables as $(NAME); $$(NAME) is a
// literal $(NAME). The variables are KUBECONFIG (a file with the system's own user), CERT_DIR (a folder with tls.crt,
// tls.key and ca.crt), WEBHOOK_HOST and WEBHOOK_PORT (where to serve webhooks), HEALTH_ADDRESS and METRICS_ADDRESS (an
// unused host:port; HEALTH_PORT and METRICS_PORT are only the ports), SERVICE_ADDRESS (see service), DIR (the system's
// folder), VERSION (the system's version), SCENARIO_DIR (the folder of the file that contains the text), and CONFIG
// (the configuration of the simulator that the program replaces, as YAML). All except DIR, VERSION, SCENARIO_DIR and
// CONFIG are environment variables, too.
type SystemProcess struct {
	// Command is the program and its arguments; no shell interprets them. A program with a slash in its name is a file,
	// relative to the file that names it, like all files here. For a module, only the arguments are given.
	Command []string `json:"command,omitempty"`
	// Env adds environment variables.
	Env map[string]string `json:"env,omitempty"`
	// Files are written to DIR before the program starts, by name; for example its configuration.
	Files map[string]string `json:"files,omitempty"`
	// CRDs are YAML files or folders whose CustomResourceDefinitions are installed; other objects in them are ignored.
	// A folder with a kustomization is built.
	CRDs []string `json:"crds,omitempty"`
	// Webhooks are YAML files or folders whose webhook configurations are installed with the address of the process;
	// other objects in them are ignored. A folder with a kustomization is built.
	Webhooks []string `json:"webhooks,omitempty"`
	// Objects are applied before the program starts, verbatim: its namespace, its configuration, its RBAC, the Pod that
	// represents it.
	Objects []map[string]any `json:"objects,omitempty"`
	// CertDir is the folder in DIR where the program looks for tls.crt and tls.key, if it has no option for that:
	// k8s-webhook-server/serving-certs for a program whose TMPDIR is $(DIR). A transition that changes the command
	// replaces it, too. Default: certs.
	CertDir string `json:"certDir,omitempty"`
	// WebhookPort is the port on which the program serves webhooks, if it has no option for that. Several clusters with
	// such a system run one after the other. A transition that changes the command replaces it, too. Default: a free port.
	WebhookPort int `json:"webhookPort,omitempty"`
	// Service is the name of an address in front of the program: $(SERVICE_ADDRESS) forwards each connection to
	// $(WEBHOOK_HOST):$(WEBHOOK_PORT), as a Service does. Systems with the same service are its replicas: a connection
	// goes to one that is ready. The webhooks are called there; a program that registers its webhooks itself uses this
	// address for them. A transition that changes the command replaces it, too.
	Service string `json:"service,omitempty"`
	// Ready checks whether the process serves. Default: it serves as soon as it runs.
	Ready *SystemReadiness `json:"ready,omitempty"`
}

// SystemReadiness checks whether a process serves. Exactly one of httpGet and tcp is set.
type SystemReadiness struct {
	// HTTPGet is a URL that answers 200: http://$(HEALTH_ADDRESS)/readyz. With https, the certificate in CERT_DIR is
	// expected; any certificate if the process has a service.
	HTTPGet string `json:"httpGet,omitempty"`
	// TCP is a host:port that accepts connections: $(WEBHOOK_HOST):$(WEBHOOK_PORT).
	TCP string `json:"tcp,omitempty"`
	// InitialDelay is the time from the start of the process to the first check: 5s, at most 2m. It is the
	// initialDelaySeconds of the readiness probe with which users run the program. Default: the first check is made at
	// once.
	InitialDelay string `json:"initialDelay,omitempty"`
}

// Wait returns the initial delay as a duration.
func (r SystemReadiness) Wait() (time.Duration, error) {
	if r.InitialDelay == "" {
		return 0, nil
	}
	delay, err := positiveDuration(r.InitialDelay)
	if err == nil && delay > mostInitialDelay {
		err = fmt.Errorf("%s is too long: at most %s", r.InitialDelay, mostInitialDelay)
	}
	return delay, err
}

// mostInitialDelay is less than the time in which a system must be ready.
const mostInitialDelay = 2 * time.Minute

// SystemChange is the change of one system, identified by its name; a new one is installed. A change of a process or a
// module replaces only the given fields. A change of a simulator replaces everything except the simulator itself. A
// system with versions is replaced as a whole, unless only its version, probes or webhookCalls change.
type SystemChange struct {
	System `json:",inline"`
	// Remove the system and everything that was installed for it.
	Remove bool `json:"remove,omitempty"`
}

// ServiceAddress is the name of the variable for the address in front of a program: $(SERVICE_ADDRESS).
const ServiceAddress = "SERVICE_ADDRESS"

// SystemPlaceholders returns the names that $(NAME) in a system's texts may have.
func SystemPlaceholders() []string {
	return []string{
		"KUBECONFIG", "CERT_DIR", "WEBHOOK_HOST", "WEBHOOK_PORT", "HEALTH_ADDRESS", "METRICS_ADDRESS",
		"HEALTH_PORT", "METRICS_PORT", ServiceAddress, "DIR", "VERSION", ScenarioDir, ModuleDir, ConfigText,
	}
}

// ExpandSystem replaces $(NAME) in a system's text by the value of that name, and $$(NAME) by a literal $(NAME). An
// unknown name is an error.
func ExpandSystem(text string, values func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		at := strings.Index(text, "$(")
		if at < 0 {
			return b.String() + text, nil
		}
		name, rest, closed := strings.Cut(text[at+2:], ")")
		if at > 0 && text[at-1] == '$' {
			b.WriteString(text[:at-1] + "$(")
			text = text[at+2:]
			continue
		}
		value, known := values(name)
		if !closed || !known {
			return "", fmt.Errorf("$(%s) is none of %s; write $$( for a literal $(", name,
				strings.Join(SystemPlaceholders(), ", "))
		}
		b.WriteString(text[:at] + value)
		text = rest
	}
}

// Kind returns how the system runs: simulated, process, module or manifests; "" if none is set.
func (s System) Kind() string {
	switch {
	case s.Simulated != nil:
		return "simulated"
	case s.Process != nil:
		return "process"
	case s.Module != nil:
		return "module"
	case s.Manifests != nil:
		return "manifests"
	}
	return ""
}

// Simulator returns the name of the simulator of a simulated system.
func (s System) Simulator() string {
	if s.Simulated.Simulator != "" {
		return s.Simulated.Simulator
	}
	return s.Name
}

// Beside returns the system for a definition in a folder: its relative file names are in that folder, and the folder
// replaces $(SCENARIO_DIR).
func (s System) Beside(dir string) System {
	in := func(text string) string { return WithFolder(dir, text) }
	s.Manifests = beside(dir, eachText(s.Manifests, in))
	if s.Process != nil {
		process := s.Process.beside(dir)
		if len(process.Command) > 0 {
			process.Command[0] = ProgramBeside(dir, process.Command[0])
		}
		s.Process = &process
	}
	if s.Module != nil {
		module := *s.Module
		module.SystemProcess = module.SystemProcess.beside(dir)
		s.Module = &module
	}
	s.Versions = versionsBeside(s.Versions, dir)
	return s
}

func (p SystemProcess) beside(dir string) SystemProcess {
	in := func(text string) string { return WithFolder(dir, text) }
	p.CRDs, p.Webhooks = beside(dir, eachText(p.CRDs, in)), beside(dir, eachText(p.Webhooks, in))
	return p.settings(in)
}

func beside(dir string, files []string) []string {
	files = slices.Clone(files)
	for i, file := range files {
		if !filepath.IsAbs(file) && !IsAddress(file) && !strings.HasPrefix(file, "$(") {
			files[i] = filepath.Join(dir, file)
		}
	}
	return files
}

// IsAddress reports whether a manifest is a URL, not a file.
func IsAddress(manifest string) bool {
	return strings.HasPrefix(manifest, "https://") || strings.HasPrefix(manifest, "http://")
}

// with returns the system after a change.
func (s System) with(c System) System {
	whole := len(s.Versions)+len(c.Versions) > 0
	if c.Kind() != "" && (whole || c.Kind() != s.Kind()) {
		c.WebhookCalls = c.WebhookCalls.usualOr()
		if c.Version == "" && whole {
			c.Version = s.Version
		}
		return c.At(c.Version)
	}
	next := s
	if c.WebhookCalls != nil {
		next.WebhookCalls = c.WebhookCalls.usualOr()
	}
	if c.Version != "" {
		next = next.At(c.Version)
	}
	if c.Probes != nil {
		next = next.withProbes(c.Probes)
	}
	return next.withFields(c)
}

// withFields returns the system with the fields of its kind and the probes of a change.
func (s System) withFields(c System) System {
	next := s
	if c.Probes != nil {
		next.Probes = c.Probes
	}
	switch {
	case c.Simulated != nil:
		simulated := *c.Simulated
		if simulated.Simulator == "" {
			simulated.Simulator = s.Simulated.Simulator
		}
		next.Simulated = &simulated
	case c.Process != nil:
		process := s.Process.with(*c.Process)
		next.Process = &process
	case c.Module != nil:
		module := s.Module.with(*c.Module)
		next.Module = &module
	case c.Manifests != nil:
		next.Manifests = c.Manifests
	}
	return next
}

func (p SystemProcess) with(c SystemProcess) SystemProcess {
	if c.Command != nil {
		p.Command, p.CertDir, p.WebhookPort, p.Service = c.Command, c.CertDir, c.WebhookPort, ""
	}
	p.CertDir, p.WebhookPort = cmp.Or(c.CertDir, p.CertDir), cmp.Or(c.WebhookPort, p.WebhookPort)
	if c.Env != nil {
		p.Env = c.Env
	}
	if c.Files != nil {
		p.Files = c.Files
	}
	if c.CRDs != nil {
		p.CRDs = c.CRDs
	}
	if c.Webhooks != nil {
		p.Webhooks = c.Webhooks
	}
	if c.Objects != nil {
		p.Objects = c.Objects
	}
	if c.Service != "" {
		p.Service = c.Service
	}
	if c.Ready != nil {
		p.Ready = c.Ready
	}
	return p
}

// System finds a system of the state by its name.
func (s State) System(name string) (System, bool) {
	i := slices.IndexFunc(s.Systems, func(known System) bool { return known.Name == name })
	if i < 0 {
		return System{}, false
	}
	return s.Systems[i], true
}

// withSystems returns the systems after changes: in the previous order, followed by the new ones.
func withSystems(before []System, changes []SystemChange) []System {
	after := slices.Clone(before)
	for _, c := range changes {
		i := slices.IndexFunc(after, func(known System) bool { return known.Name == c.Name })
		switch {
		case c.Remove && i >= 0:
			after = slices.Delete(after, i, i+1)
		case c.Remove:
		case i >= 0:
			after[i] = after[i].with(c.System)
		default:
			after = append(after, c.System)
		}
	}
	return after
}

// String returns the system in a few words: "lws(simulated, faults keeps-stale-service)".
func (s System) String() string {
	words := []string{s.Kind()}
	if s.Version != "" {
		words = append(words, s.Version)
	}
	if simulated := s.Simulated; simulated != nil {
		if s.Simulator() != s.Name {
			words = append(words, "as "+s.Simulator())
		}
		if simulated.Variant != "" {
			words = append(words, "variant "+simulated.Variant)
		}
		if len(simulated.Faults) > 0 {
			words = append(words, "faults "+faultsInShort(simulated.Faults))
		}
		if len(simulated.Liberties) > 0 {
			words = append(words, "liberties "+faultsInShort(simulated.Liberties))
		}
		if simulated.Config != nil {
			words = append(words, "config "+configInShort(simulated.Config))
		}
	}
	if !s.WebhookCalls.Usual() {
		words = append(words, s.WebhookCalls.String())
	}
	return s.Name + "(" + strings.Join(words, ", ") + ")"
}

// faultsInShort returns faults in a few words: if there are many, the first ones and a checksum of all.
func faultsInShort(faults []string) string {
	const most = 4
	if len(faults) <= most {
		return strings.Join(faults, " ")
	}
	return fmt.Sprintf("%s and %d more %s", strings.Join(faults[:most-1], " "), len(faults)-most+1,
		checksum([]byte(strings.Join(faults, " "))))
}

// checksum distinguishes long texts that are shortened.
func checksum(text []byte) string { return fmt.Sprintf("%04x", crc32.ChecksumIEEE(text)&0xffff) }

// configInShort returns a configuration as short text. A long one is cut, and a checksum is added to distinguish it.
func configInShort(config map[string]any) string {
	const most = 60
	text, err := json.Marshal(config)
	if err != nil {
		return "that is no JSON"
	}
	if characters := []rune(string(text)); len(characters) > most {
		return string(characters[:most]) + "... " + checksum(text)
	}
	return string(text)
}

// Texts yields every text of the system that may contain placeholders, with its path: fields and indices.
func (s System) Texts(yield func(way []any, text string) bool) {
	for i, text := range s.Manifests {
		if !yield([]any{"manifests", i}, text) {
			return
		}
	}
	for i, v := range s.Versions {
		for way, text := range v.change().Texts {
			if !yield(append([]any{"versions", i}, way...), text) {
				return
			}
		}
	}
	p := s.Launched()
	if p == nil {
		return
	}
	lists := map[string][]string{"command": p.Command, "crds": p.CRDs, "webhooks": p.Webhooks}
	for _, name := range SortedKeys(lists) {
		for i, text := range lists[name] {
			if !yield([]any{s.Kind(), name, i}, text) {
				return
			}
		}
	}
	tables := map[string]map[string]string{"env": p.Env, "files": p.Files}
	if p.Ready != nil {
		tables["ready"] = map[string]string{"httpGet": p.Ready.HTTPGet, "tcp": p.Ready.TCP}
	}
	for _, name := range SortedKeys(tables) {
		for _, key := range SortedKeys(tables[name]) {
			if !yield([]any{s.Kind(), name, key}, tables[name][key]) {
				return
			}
		}
	}
}

// SplitFault splits a fault into its name and its pattern of namespaces; "" if the fault applies everywhere.
func SplitFault(text string) (name, namespaces string) {
	name, namespaces, _ = strings.Cut(text, "@")
	return name, namespaces
}
