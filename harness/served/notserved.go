package served

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// NotServedError says that the API server does not serve the kind, according to an answer from just now.
type NotServedError struct {
	GVK schema.GroupVersionKind
	// Server is the version of Kubernetes that was asked; "" if unknown.
	Server string
	// Versions of the group that serve the kind, newest first.
	Versions []string
	// Complete says that Versions is complete, because every version of the group answered.
	Complete bool
	// Earlier is the version of Kubernetes that served the kind before a transition; "" if none did.
	Earlier string
	// MayAppear says that the kind may be served soon: something on the track may define it, or a peer of the API server
	// may serve it, which was not asked yet.
	MayAppear bool

	// detail says what is served instead, or which kind was probably meant.
	detail string
}

// Error names the kind, and what is served instead.
func (e *NotServedError) Error() string {
	server := e.Server
	if server == "" {
		server = "the API server"
	}
	text := fmt.Sprintf("%s of %s is not served by %s", e.GVK.Kind, e.GVK.GroupVersion(), server)
	if len(e.Versions) > 0 {
		verb := " is served"
		if len(e.Versions) > 1 {
			verb = " are served"
		}
		text += "; " + strings.Join(e.Versions, ", ") + verb
	}
	if e.detail != "" {
		text += "; " + e.detail
	}
	if e.Earlier != "" {
		text += fmt.Sprintf("; %s served it before the transition", e.Earlier)
	}
	return text
}

// Status is the API server's answer to a request for a kind that it does not serve.
func (e *NotServedError) Status() metav1.Status {
	return metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    404,
		Reason:  metav1.StatusReasonNotFound,
		Message: e.Error(),
	}
}

// notServed explains why a version does not have a kind. It asks the API server which other versions serve the kind,
// and ignores versions that it cannot ask.
func (k *Kinds) notServed(ctx context.Context, gvk schema.GroupVersionKind, siblings []string) *NotServedError {
	k.mu.Lock()
	now := len(k.servers) - 1
	e := &NotServedError{GVK: gvk, Server: k.servers[now], MayAppear: k.peers || k.mayBring(gvk)}
	if at, before := k.found[gvk]; before && at < now {
		e.Earlier = k.servers[at]
	}
	k.mu.Unlock()
	versions, err := k.groupVersions(ctx, gvk.Group)
	if err != nil {
		return e
	}
	e.Complete = true
	for _, v := range versions {
		served, err := k.serves(ctx, gvk.GroupKind().WithVersion(v))
		if err != nil {
			e.Complete = false
		}
		if served {
			e.Versions = append(e.Versions, v)
		}
	}
	switch {
	case len(e.Versions) > 0 || !e.Complete:
	case len(versions) == 0:
		e.detail = fmt.Sprintf("nothing of the group %s is served", gvk.Group)
	case len(siblings) == 0:
		e.detail = fmt.Sprintf("the group %s is served as %s, but has no such kind", gvk.Group, strings.Join(versions, ", "))
	default:
		e.detail = scenarios.Suggest(gvk.Kind, siblings)
	}
	return e
}

// groupVersions returns the versions of a group, newest first.
func (k *Kinds) groupVersions(ctx context.Context, group string) ([]string, error) {
	if group == "" {
		return []string{"v1"}, nil
	}
	var served metav1.APIGroup
	err := k.client.Get().AbsPath("/apis", group).Do(ctx).Into(&served)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask the API server which versions of %s it serves: %w", group, err)
	}
	var versions []string
	for _, v := range served.Versions {
		versions = append(versions, v.Version)
	}
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return versions, nil
}

func (k *Kinds) serves(ctx context.Context, gvk schema.GroupVersionKind) (bool, error) {
	served, err := k.fetch(ctx, gvk.GroupVersion())
	return slices.Contains(kindsOf(served), gvk.Kind), err
}

func kindsOf(served []metav1.APIResource) []string {
	var all []string
	for _, r := range served {
		if !strings.Contains(r.Name, "/") {
			all = append(all, r.Kind)
		}
	}
	return all
}
