package transplant

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// treated returns the value of an entry in the copy; nil if the entry is left out.
func (c *Copy) treated(e Entry) ([]byte, error) {
	folder, rest := split(e.Key)
	if what := foreign(folder, rest); what != "" {
		c.dropped[what]++
		return nil, nil
	}
	if e.Encrypted == kms {
		c.dropped["objects that a KMS plugin encrypted, which is not available"]++
	}
	if why := leftOut(e); why != "" {
		c.lack(e.Key, why)
		return nil, nil
	}
	if slices.Contains(owned, folder) {
		if o, err := e.Object(); err == nil {
			if !c.incomplete() && !c.facts.ownersUnknown && c.facts.owners.lack(o) {
				c.dropped["objects whose owner was deleted while the cluster was read"]++
				return nil, nil
			}
			c.uids[e.Key] = o.GetUID()
		}
	}
	treat := c.treatment(folder)
	if treat == nil {
		return c.asItIs(e)
	}
	o, err := e.Object()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Key, err)
	}
	changed, keep := treat(o.DeepCopy())
	switch {
	case !keep:
		return nil, nil
	case changed == nil:
		return c.asItIs(e)
	}
	return storage.Encode(storage.Resource{Custom: true}, changed) // as JSON, which is valid for all kinds
}

func (c *Copy) asItIs(e Entry) ([]byte, error) {
	o, err := e.Object()
	if err == nil && o.GetDeletionTimestamp() != nil {
		c.leaving[e.Key] = true
	}
	c.unconverted(e, o, err)
	return e.Value()
}

// leftOut says why an encrypted object is not in the copy; "" if it is.
func leftOut(e Entry) string {
	folder, _ := split(e.Key)
	switch {
	case e.Encrypted == kms:
		return "a KMS plugin encrypted it, which is not available; it was skipped"
	case e.Encrypted != "" && new(Copy).treatment(folder) != nil:
		return "it is encrypted, and could not be adapted to the copy; it was left out"
	}
	return ""
}

// lack records that an object cannot be judged.
func (c *Copy) lack(key, why string) {
	resource, name := storage.Named(key)
	c.lacks = append(c.lacks, Lack{resource.String(), name, why})
}

// kms is the encryption provider that calls a plugin on the API server's machine.
const kms = "kms"

// foreign describes an entry that belongs only to its cluster; "" for other entries. Each cluster creates such
// entries itself, or must not have them.
func foreign(folder, rest string) string {
	switch key := folder + rest; {
	case folder == "events/":
		return "events"
	case folder == "masterleases/", folder == "peerserverleases/", folder == "ranges/":
		// the serving API servers, and the allocated addresses, which an API server reads from Services
		return "records of API servers"
	case key == "services/endpoints/default/kubernetes", key == "endpointslices/default/kubernetes",
		key == "configmaps/kube-system/extension-apiserver-authentication":
		return "records of API servers"
	}
	return ""
}

// treatment returns the function that adapts the objects in a folder; nil if there is none. That function returns the
// changed object, or nil if nothing changes, and whether the object is kept.
func (c *Copy) treatment(folder string) func(*unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	switch folder {
	case "leases/":
		return c.lease
	case nodes:
		return c.node
	case "mutatingwebhookconfigurations/", "validatingwebhookconfigurations/":
		return c.webhooks
	case apiServices:
		return c.apiService
	case definitions:
		return c.definition
	}
	return nil
}

// lease leaves out the Leases of the control plane and the nodes, and those that have expired.
func (c *Copy) lease(o *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	own := o.GetNamespace() == "kube-system" || o.GetNamespace() == "kube-node-lease"
	renewed, _, _ := unstructured.NestedString(o.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(o.Object, "spec", "leaseDurationSeconds")
	at, err := time.Parse(time.RFC3339, renewed)
	expired := err == nil && at.Add(time.Duration(seconds)*time.Second).Before(c.Now())
	if own || expired {
		c.dropped["leases that have expired, or are the control plane's and the nodes'"]++
		return nil, false
	}
	return nil, true
}

// node removes the label of nodes that Rehearse simulated. With the label, a node would be deleted, because the
// copy's state does not ask for it.
func (c *Copy) node(o *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	labels := o.GetLabels()
	if labels[clusters.NodeLabel] == "" {
		return nil, true
	}
	delete(labels, clusters.NodeLabel)
	o.SetLabels(labels)
	return o, true
}

// apiService leaves out APIServices of aggregated API servers. Discovery would wait for them, and so would every
// client that needs complete discovery.
func (c *Copy) apiService(o *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	service, _, _ := unstructured.NestedMap(o.Object, "spec", "service")
	if service == nil {
		return nil, true
	}
	c.lacks = append(c.lacks, Lack{
		"APIService.apiregistration.k8s.io", o.GetName(),
		fmt.Sprintf("Service %v/%v, an aggregated API server, does not run in the copy; neither it nor its objects "+
			"were rehearsed", service["namespace"], service["name"]),
	})
	return nil, false
}

// webhooks points the webhooks of a configuration to c.Webhooks. Without c.Webhooks, it leaves the configuration out.
func (c *Copy) webhooks(o *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	if c.Webhooks == nil {
		c.lacks = append(c.lacks, Lack{
			o.GetKind() + ".admissionregistration.k8s.io", o.GetName(),
			"nothing answers its webhooks in the copy, so it was skipped",
		})
		return nil, false
	}
	webhooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
	for _, webhook := range webhooks {
		if fields, ok := webhook.(map[string]any); ok {
			client, _ := fields["clientConfig"].(map[string]any)
			hook := hookOf(o.GetName(), fmt.Sprint(fields["name"]), client)
			hook.Mutates = o.GetKind() == "MutatingWebhookConfiguration"
			fields["clientConfig"] = c.clientConfig(hook)
		}
	}
	forget(o)
	if err := unstructured.SetNestedSlice(o.Object, webhooks, "webhooks"); err != nil {
		return nil, true
	}
	return o, true
}

// hookOf returns the hook of a clientConfig.
func hookOf(name, webhook string, client map[string]any) Hook {
	h := Hook{Name: name, Webhook: webhook, Path: "/"}
	if service, ok := client["service"].(map[string]any); ok {
		h.Service = fmt.Sprintf("%v/%v", service["namespace"], service["name"])
		if path, ok := service["path"].(string); ok {
			h.Path = path
		}
	}
	if address, err := url.Parse(fmt.Sprint(client["url"])); err == nil && client["url"] != nil {
		h.Path = address.Path
	}
	return h
}

func (c *Copy) clientConfig(h Hook) map[string]any {
	address, authority := c.Webhooks.Address(h)
	return map[string]any{"url": address.String(), "caBundle": base64.StdEncoding.EncodeToString(authority)}
}

// forget removes the last applied manifest, because the adapted object differs from it.
func forget(o *unstructured.Unstructured) {
	unstructured.RemoveNestedField(o.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
}
