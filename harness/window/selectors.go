package window

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// selector is a field selector that a component of Kubernetes, or a program on its nodes, lists and watches with.
type selector struct {
	kind schema.GroupKind
	// field is selected with a value that no object has.
	field string
	// client that selects by it.
	client string
}

// selectors are those of Kubernetes 1.33 to 1.37. kubernetes#127316: kubelet 1.31 selected Services by spec.clusterIP.
// An API server of 1.30 rejected the list, and no pod started.
func selectors() []selector {
	core := func(kind string) schema.GroupKind { return schema.GroupKind{Kind: kind} }
	in := func(group, kind string) schema.GroupKind {
		return schema.GroupKind{Group: group + ".k8s.io", Kind: kind}
	}
	return []selector{
		{core("Service"), "spec.clusterIP", "kubelet"},
		{core("Pod"), "spec.nodeName", "kubelet"},
		{core("Pod"), "status.phase", "kube-scheduler"},
		{core("Node"), "metadata.name", "kubelet"},
		{core("Secret"), "metadata.name", "kubelet"},
		{core("ConfigMap"), "metadata.name", "kubelet"},
		{core("Event"), "involvedObject.uid", "kubectl describe"},
		{core("Namespace"), "status.phase", "kubectl"},
		{in("certificates", "CertificateSigningRequest"), "spec.signerName", "signers"},
		{in("certificates", "PodCertificateRequest"), "spec.nodeName", "kubelet"},
		{in("certificates", "ClusterTrustBundle"), "spec.signerName", "kubelet"},
		{in("resource", "ResourceSlice"), "spec.nodeName", "kubelet"},
		{in("resource", "ResourceSlice"), "spec.driver", "drivers of devices"},
		{in("storage", "CSINode"), "metadata.name", "kubelet"},
	}
}

// selectors: each server accepts the field selectors that the other accepts.
func (j *judge) selectors(ctx context.Context) {
	accepted := 0
	for _, s := range selectors() {
		one, other := j.old.Kinds[s.kind], j.new.Kinds[s.kind]
		if one == nil || other == nil {
			continue // kinds that only one server serves are separate evidence
		}
		for _, version := range one.Versions {
			if !slices.Contains(other.Versions, version) {
				continue
			}
			if j.selects(ctx, one.In(s.kind.Group, version), s) {
				accepted++
			}
		}
	}
	j.evidence("%d lists with field selectors of Kubernetes' own clients are accepted by %s and %s", accepted, j.old.Name,
		j.new.Name)
}

// selects lists by a selector through both servers, as a client does at its start. It reports whether both accept it.
func (j *judge) selects(ctx context.Context, resource schema.GroupVersionResource, s selector) bool {
	options := metav1.ListOptions{FieldSelector: s.field + "=none", Limit: 1}
	_, oldErr := j.old.client.Resource(resource).List(ctx, options)
	_, newErr := j.new.client.Resource(resource).List(ctx, options)
	title := resource.Resource + " (" + resource.GroupVersion().String() + ") by " + s.field
	old, new := writes.Judge(oldErr), writes.Judge(newErr)
	switch {
	case old == writes.Unknown:
		j.unjudged("selectors: list %s through %s: %s", title, j.old.Name, writes.Words(oldErr))
	case new == writes.Unknown:
		j.unjudged("selectors: list %s through %s: %s", title, j.new.Name, writes.Words(newErr))
	case old != new:
		accepts, rejects, err := j.old, j.new, newErr
		if old == writes.Rejected {
			accepts, rejects, err = j.new, j.old, oldErr
		}
		j.problem("selectors: %s lists %s; %s accepts that, %s rejects it: %s", s.client, title, accepts.Name,
			rejects.Name, writes.Words(err))
	default:
		return old == writes.Accepted // neither may know it in this version
	}
	return false
}
