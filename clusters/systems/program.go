package systems

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/installing"
)

// program is a system as a process, with its place expanded in its texts.
type program struct {
	command []string
	env     map[string]string
	files   map[string]string
	content installing.Content
	ready   clusters.SystemReadiness
	probes  []*unstructured.Unstructured
	// hosts are additional names in its certificate.
	hosts []string
	// installsItself: it installs its CRDs and webhook configurations itself.
	installsItself bool
}

// location is where a program runs: the values that its texts may contain, and its folder.
type location interface {
	Values() map[string]string
	File(name string) string
	URL() string
}

// concrete expands the place in the texts of a system. A simulator and the program of a built module become ordinary
// programs.
func concrete(definition clusters.System, simulators Simulators, built clusters.BuiltModule, at location) (program,
	error,
) {
	if definition.Simulated != nil {
		return simulated(definition, simulators, at)
	}
	values := at.Values()
	values["DIR"], values[clusters.ConfigText] = at.File(""), ""
	e := expander{values: values}
	if definition.Version != "" {
		values["VERSION"] = definition.Version
	}
	p := definition.Launched()
	if definition.Module != nil {
		values[clusters.ModuleDir] = built.Dir
	}
	made := program{
		command: e.list(p.Command), env: e.table(p.Env), files: e.table(p.Files), probes: objectsOf(definition.Probes),
		content: installing.Content{CRDs: e.list(p.CRDs), Webhooks: e.list(p.Webhooks), Objects: objectsOf(p.Objects)},
	}
	if definition.Module != nil {
		made.command = slices.Concat([]string{built.Program}, made.command)
	}
	if p.Ready != nil {
		made.ready = *p.Ready
		made.ready.HTTPGet, made.ready.TCP = e.text(p.Ready.HTTPGet), e.text(p.Ready.TCP)
	}
	if e.err == nil && len(made.command) == 0 {
		e.err = fmt.Errorf("it has no command")
	}
	return made, e.err
}

func simulated(definition clusters.System, simulators Simulators, at location) (program, error) {
	simulator, ok := simulators[definition.Simulator()]
	if !ok {
		return program{}, noSimulator(definition.Simulator(), simulators)
	}
	values := at.Values()
	command := slices.Concat(simulator.Command, []string{
		"--kubeconfig=" + values["KUBECONFIG"], "--host=" + values["WEBHOOK_HOST"], "--port=" + values["WEBHOOK_PORT"],
		"--cert-dir=" + values["CERT_DIR"], "--faults=" + strings.Join(definition.Simulated.Faults, ","), "--variant=" +
			definition.Simulated.Variant,
	})
	if len(definition.Simulated.Liberties) > 0 {
		command = append(command, "--liberties="+strings.Join(definition.Simulated.Liberties, ","))
	}
	made := program{
		probes: simulator.Probes, hosts: simulator.Hosts, installsItself: true,
		ready: clusters.SystemReadiness{HTTPGet: at.URL() + "/readyz"},
	}
	if definition.Simulated.Config != nil {
		text, err := yaml.Marshal(definition.Simulated.Config)
		if err != nil {
			return program{}, fmt.Errorf("write its configuration: %w", err)
		}
		made.files = map[string]string{configFile: string(text)}
		command = append(command, "--config="+at.File(configFile))
	}
	made.command = command
	return made, nil
}

// configFile is the path of a simulator's configuration, in its system's folder.
const configFile = "config.yaml"

func noSimulator(name string, simulators Simulators) error {
	return fmt.Errorf("unknown simulator %q; known: %s", name,
		cmp.Or(strings.Join(clusters.SortedKeys(simulators), ", "), "none"))
}

// expander expands values in texts and keeps the first error.
type expander struct {
	values map[string]string
	err    error
}

func (e *expander) text(text string) string {
	expanded, err := clusters.ExpandSystem(text, func(name string) (string, bool) {
		value, ok := e.values[name]
		return value, ok
	})
	if err != nil && e.err == nil {
		e.err = err
	}
	return expanded
}

func (e *expander) list(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, e.text(text))
	}
	return all
}

func (e *expander) table(texts map[string]string) map[string]string {
	all := map[string]string{}
	for key, text := range texts {
		all[key] = e.text(text)
	}
	return all
}

func objectsOf(plain []map[string]any) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, object := range plain {
		all = append(all, &unstructured.Unstructured{Object: object})
	}
	return all
}

// absolute makes a file's path absolute; a program without a slash in its name is searched in PATH.
func absolute(path string) (string, error) {
	if !strings.ContainsRune(path, filepath.Separator) {
		return path, nil
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return whole, nil
}
