package writes

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// source is what rejected a write, as far as the Status shows it.
type source struct {
	// by is one of scenarios.RejectionSources, or "" if the Status does not show it.
	by string
	// name of the webhook, of the policy, or of the plugin; "" if there is none.
	name string
}

// String names the source for a person.
func (r source) String() string {
	switch {
	case r.by == "":
		return "unknown (the status does not show it)"
	case r.name == "":
		return r.by
	default:
		return r.by + " " + r.name
	}
}

// These texts show what rejected a write, in the API server's own words. They begin the message, or come directly
// after "is forbidden: ". A webhook's or a policy's own words come later, and cannot be mistaken for them.
var (
	// k8s.io/apiserver, admission/plugin/webhook/errors and webhook/validating.
	webhookDenied = regexp.MustCompile(`^admission webhook "([^"]+)" denied the request`)
	// k8s.io/apiserver, admission/plugin/policy. Both the validating and the mutating policies are in CEL.
	policyDenied = regexp.MustCompile(`^(?:ValidatingAdmissionPolicy|MutatingAdmissionPolicy|policy) ['"]([^'"]+)['"] (?:with binding '[^']+' )?denied request: `)
	// k8s.io/apiserver, endpoints/handlers/responsewriters: whichever authorizer it was.
	notAuthorized = regexp.MustCompile(`^User "[^"]*" cannot [a-z*]+ (resource|path) "`)
	// k8s.io/kubernetes, pkg/registry/rbac/validation.
	escalation = regexp.MustCompile(`^user "[^"]*" \(groups=.*\) is attempting to grant RBAC permissions not currently held`)
	// k8s.io/apimachinery, api/errors: NewForbidden.
	forbidden = regexp.MustCompile(`(?s)^(?:\S+ (?:"[^"]*" )?is )?forbidden: (.*)$`)
	// k8s.io/apimachinery, runtime: an object that does not fit its kind never reaches admission.
	undecodable = regexp.MustCompile(`^\S+ in version "[^"]*" cannot be handled as a `)
)

// plugins are the texts of admission plugins that are built into the API server. A plugin whose text is not here is
// not recognized.
var plugins = []struct {
	name string
	text *regexp.Regexp
}{
	{"ResourceQuota", regexp.MustCompile(`^(exceeded quota: |failed quota: |insufficient quota to (consume|match))`)},
	{
		"LimitRanger",
		regexp.MustCompile(`^\[?((minimum|maximum) \S+ usage per \S+ is |\S+ max limit to request ratio per )`),
	},
	{
		"NamespaceLifecycle",
		regexp.MustCompile(`^(unable to create new content in namespace \S+ because it is being terminated|this namespace may not be deleted)`),
	},
	{
		"ServiceAccount",
		regexp.MustCompile(`^(error looking up service account |no service account specified for pod |a mirror pod may not )`),
	},
	{"PodSecurity", regexp.MustCompile(`^violates PodSecurity `)},
	{
		"Priority",
		regexp.MustCompile(`^(no PriorityClass with name .* was found|the integer value of priority .* must not be provided in pod spec|PriorityClass .* is already marked as default)`),
	},
	{"RuntimeClass", regexp.MustCompile(`^pod rejected: (RuntimeClass|Pod)`)},
	{"OwnerReferencesPermissionEnforcement", regexp.MustCompile(`^cannot set (an ownerRef|blockOwnerDeletion) `)},
	{
		"PersistentVolumeClaimResize",
		regexp.MustCompile(`(?i)^only (dynamically provisioned pvc can be resized|bound persistent volume claims can be expanded)`),
	},
	{"CertificateApproval", regexp.MustCompile(`^user not permitted to (approve|sign) requests with signerName `)},
	{"CertificateSubjectRestriction", regexp.MustCompile(`^use of \S+ signer with system:masters group is not allowed`)},
	{"NodeRestriction", regexp.MustCompile(`^node "[^"]*" (can only|is not allowed|cannot|can not) `)},
	{"DenyServiceExternalIPs", regexp.MustCompile(`^Use of external IPs is denied by admission control`)},
}

// rejectedBy returns what rejected a write, from what only the API server writes into a Status. The code alone shows
// nothing (a webhook and a policy may choose theirs).
func rejectedBy(status metav1.Status) source {
	if m := webhookDenied.FindStringSubmatch(status.Message); m != nil {
		return source{scenarios.ByWebhook, m[1]}
	}
	said := status.Message
	m := forbidden.FindStringSubmatch(status.Message)
	if m != nil {
		said = m[1]
	}
	if p := policyDenied.FindStringSubmatch(said); p != nil {
		return source{scenarios.ByPolicy, p[1]}
	}
	switch status.Code {
	case http.StatusForbidden:
		if m == nil {
			return source{}
		}
		return forbiddenBy(said)
	case http.StatusUnprocessableEntity:
		if status.Reason == metav1.StatusReasonInvalid && strings.Contains(status.Message, " is invalid: ") &&
			len(namedFields(status)) > 0 {
			return source{by: scenarios.BySchema}
		}
	case http.StatusInternalServerError:
		if mistyped(status) {
			return source{by: scenarios.BySchema}
		}
	case http.StatusBadRequest:
		if undecodable.MatchString(status.Message) {
			return source{by: scenarios.BySchema}
		}
	}
	return source{}
}

func forbiddenBy(said string) source {
	if notAuthorized.MatchString(said) || escalation.MatchString(said) {
		return source{by: scenarios.ByRBAC}
	}
	for _, plugin := range plugins {
		if plugin.text.MatchString(said) {
			return source{scenarios.ByAdmission, plugin.name}
		}
	}
	return source{}
}

// ExceedsQuota reports whether a write was rejected only because a ResourceQuota has no room for it.
func ExceedsQuota(err error) bool {
	status, ok := StatusOf(err)
	if !ok || status.Code != http.StatusForbidden {
		return false
	}
	m := forbidden.FindStringSubmatch(status.Message)
	return m != nil && strings.HasPrefix(m[1], "exceeded quota: ")
}

// unknownClass matches the rejection of a Pod whose PriorityClass the API server's plugin does not know.
var unknownClass = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)

// classUnseen reports whether the API server may have rejected a Pod because its plugin has not seen the PriorityClass
// yet, which exists: the plugin watches the classes. The Pod is then sent again, for a while after the first attempt.
func classUnseen(ctx, appear context.Context, w *Writer, step *scenarios.Step, status metav1.Status) bool {
	class := unknownClass.FindStringSubmatch(status.Message)
	if class == nil || wanted(step) != nil || appear.Err() != nil {
		return false
	}
	api := w.Client.Resource(schedulingv1.SchemeGroupVersion.WithResource("priorityclasses"))
	_, err := api.Get(ctx, class[1], metav1.GetOptions{})
	return err == nil
}
