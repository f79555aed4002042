package clusters

import "slices"

// Ability is what the clusters of some providers can do and others cannot, as scenarios name it.
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

// PodImage is for pods of a scenario's own: busybox with sh, sleep, nc, nslookup, httpd and the like. Node images
// that are built here have it, others do not; simulated nodes run every image, but nothing in it.
const PodImage = "localhost/rehearse-pod:1"

// declaration is one line of the table of abilities.
type declaration struct {
	ability Ability
	// text completes "the cluster can".
	text string
	// implemented says whether a type of clusters has it; nil where no interface stands for it: its provider names it.
	implemented func(Cluster) bool
}

// declarations is the one table of abilities.
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
		// An etcd of Kubernetes' version cannot go down from 1.34, which brought etcd 3.6, to 1.33.
		{AbilityOneEtcd, "keep one etcd for every version of Kubernetes", nil},
		// Another Converge can make a broken cluster whole again.
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
		// It needs to run each of them under a hostname of its own.
		{AbilityPeerProxy, "have its API servers pass requests on to one another", nil},
	}
}

func implements[I any](c Cluster) bool {
	_, does := c.(I)
	return does
}

// Abilities lists them all.
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

// AbilitiesOf are those of a type of clusters, of which a nil pointer will do: those that have an interface as far as
// the type implements it, and those that its provider names.
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
