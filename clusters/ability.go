package clusters

import "slices"

// Ability is a feature that only some providers' clusters have, as scenarios name it.
type Ability string

// The abilities that a scenario may need.
const (
	AbilityExec           Ability = "exec"
	AbilitySnapshots      Ability = "snapshots"
	AbilityComponents     Ability = "components"
	AbilityMetrics        Ability = "metrics"
	AbilityDNS            Ability = "dns"
	AbilitySimulatedNodes Ability = "simulatedNodes"
	AbilityPodImage       Ability = "podImage"
	AbilitySchedulers     Ability = "schedulers"
	AbilityOneEtcd        Ability = "oneEtcd"
	AbilityBreakages      Ability = "breakages"
	AbilityControlPlanes  Ability = "controlPlanes"
	AbilityMixedVersions  Ability = "mixedVersions"
	AbilityOwnVersions    Ability = "componentVersions"
	AbilityEmulation      Ability = "emulation"
	AbilityWebhookCalls   Ability = "webhookCalls"
	AbilityPeerProxy      Ability = "peerProxy"
)

// PodImage is the image for a scenario's own pods: busybox with sh, sleep, nc, nslookup, httpd and others. Node
// images that are built here contain it, others do not. Simulated nodes accept every image, but run nothing.
const PodImage = "localhost/rehearse-pod:1"

// declaration is one line of the table of abilities.
type declaration struct {
	ability Ability
	// text completes "the cluster can".
	text string
	// implemented reports whether a type of clusters has it; nil if it has no interface, and the provider names it.
	implemented func(Cluster) bool
}

// declarations returns the table of all abilities.
func declarations() []declaration {
	return []declaration{
		{AbilityExec, "run commands in pods", implements[PodExecutor]},
		{AbilitySnapshots, "keep what it stores and put it back", implements[Snapshotter]},
		{AbilityComponents, "stop and start its components", implements[ComponentController]},
		{AbilityMetrics, "show its components' metrics", implements[MetricsSource]},
		{AbilityDNS, "answer DNS for its Services", implements[DNSServer]},
		{AbilitySimulatedNodes, "simulate as many nodes as wanted, with any name and capacity", nil},
		{AbilityPodImage, "run pods of the image " + PodImage, nil},
		{AbilitySchedulers, "run kube-schedulers beside the first", nil},
		// An etcd of Kubernetes' own version cannot go from 1.34, which introduced etcd 3.6, back to 1.33.
		{AbilityOneEtcd, "keep one etcd for every version of Kubernetes", nil},
		// Another Converge can repair a broken cluster.
		{AbilityBreakages, "name the component that broke in a transition, with a *BrokenError", nil},
		{AbilityControlPlanes, "have several control planes", nil},
		{
			AbilityMixedVersions,
			"stop a transition between control planes, and ask each API server",
			implements[Rolling],
		},
		{AbilityOwnVersions, "run components of other versions than its own", nil},
		{AbilityEmulation, "emulate an older version", nil},
		{AbilityWebhookCalls, "stand between its API servers and the webhooks of a system", nil},
		// Each API server needs its own hostname.
		{AbilityPeerProxy, "have its API servers pass requests on to one another", nil},
	}
}

func implements[I any](c Cluster) bool {
	_, does := c.(I)
	return does
}

// Abilities lists all abilities.
func Abilities() []Ability {
	var all []Ability
	for _, d := range declarations() {
		all = append(all, d.ability)
	}
	return all
}

// Text completes "the cluster can".
func (a Ability) Text() string {
	for _, d := range declarations() {
		if d.ability == a {
			return d.text
		}
	}
	return string(a)
}

// AbilitiesOf returns the abilities of a type of clusters (c may be a nil pointer): those whose interface the type
// implements, and those without an interface that its provider names.
func AbilitiesOf(c Cluster, named ...Ability) []Ability {
	return slices.DeleteFunc(Abilities(), func(a Ability) bool {
		for _, d := range declarations() {
			if d.ability == a && d.implemented != nil {
				return !d.implemented(c)
			}
		}
		return !slices.Contains(named, a)
	})
}

// LacksError is why a provider's cluster cannot be in a state that needs an ability.
type LacksError struct {
	Ability Ability
	Err     error
}

// Error returns the text of Err.
func (e *LacksError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *LacksError) Unwrap() error { return e.Err }
