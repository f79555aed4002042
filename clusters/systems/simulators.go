package systems

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Simulator describes how to run a simulator.
type Simulator struct {
	// Command is the program and its first arguments. It becomes the simulator with these further arguments:
	// --kubeconfig=FILE --host=ADDRESS --port=NUMBER --cert-dir=FOLDER --faults=A,B --liberties=A,B --variant=NAME. It
	// installs its CRDs and webhook configurations itself, by server-side apply as field manager NAME-simulator, and
	// answers 200 on https://ADDRESS:NUMBER/readyz once it serves.
	Command []string
	// Faults and Variants that it supports.
	Faults, Variants []string
	// Liberties that it supports.
	Liberties []string
	// ClusterWide are the faults that cannot be limited to namespaces.
	ClusterWide []string
	// Configurable: it also accepts --config=FILE, a YAML file from a scenario.
	Configurable bool
	// Groups are the API groups whose definitions it installs. In a borrowed cluster, it does not replace those of others.
	Groups []string
	// Probes are objects whose creation, as a dry run, reaches each of its webhooks.
	Probes []*unstructured.Unstructured
	// Hosts are additional names in its certificate: those that an API server uses for an aggregated one,
	// SERVICE.NAMESPACE.svc.
	Hosts []string
}

// Simulators by their names.
type Simulators map[string]Simulator
