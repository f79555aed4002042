package features

import "regexp"

// helpLine matches a gate in a component's --help: "kube:GangScheduling=true|false (ALPHA - default=false)".
var helpLine = regexp.MustCompile(`(?m)^\s*(?:kube:)?([A-Z]\w*)=true\|false \((?:ALPHA|BETA) - default=(true|false)\)`)

// InHelp returns the alpha and beta gates in a component's --help, with their defaults.
func InHelp(help string) map[string]bool {
	gates := map[string]bool{}
	for _, m := range helpLine.FindAllStringSubmatch(help, -1) {
		gates[m[1]] = m[2] == "true"
	}
	return gates
}

// inHelp reports whether --help lists gates of the spec's stage.
func (s Spec) inHelp() bool { return s.Stage == Alpha || s.Stage == Beta }
