package upgrade

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const export = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default, uid: u1}, spec: {clusterIP: 172.20.0.1}}
- {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, uid: u2, resourceVersion: "7"},
   spec: {clusterIP: 172.20.0.9, clusterIPs: [172.20.0.9], ipFamilies: [IPv4, IPv6],
   selector: {app: web}, ports: [{port: 80}]}, status: {loadBalancer: {}}}
- {apiVersion: v1, kind: Service, metadata: {name: headless, namespace: shop, uid: u3}, spec: {clusterIP: None}}
- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: shop, uid: u4,
   annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"apps/v1beta1","kind":"StatefulSet",
   "metadata":{"name":"web","namespace":"shop"}}'}}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata:
    name: made-by-an-operator
    namespace: shop
    uid: u8
    ownerReferences: [{apiVersion: example.com/v1, kind: Gadget, name: mine, uid: u9, controller: true}]
- {apiVersion: example.com/v1, kind: Gadget, metadata: {name: mine, namespace: shop, uid: u9}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata:
    name: data
    namespace: shop
    uid: u10
    annotations: {pv.kubernetes.io/bind-completed: "yes", volume.kubernetes.io/storage-provisioner: ebs, mine: kept}
  spec: {volumeName: pv-1, storageClassName: gp3}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1, uid: u11, labels: {topology.kubernetes.io/zone: z}},
   spec: {claimRef: {name: data, namespace: shop, uid: u10}, nodeAffinity: {required: {}}, local: {path: /a}}}
- apiVersion: v1
  kind: Secret
  type: kubernetes.io/service-account-token
  metadata:
    name: token
    namespace: shop
    uid: u12
    annotations: {kubernetes.io/service-account.name: web, kubernetes.io/service-account.uid: u13}
  data: {token: YQ==, ca.crt: YQ==, namespace: YQ==, mine: YQ==}
- {apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop, uid: u14}}
- {apiVersion: v1, kind: Endpoints, metadata: {name: headless, namespace: shop, uid: u15}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-0
    namespace: shop
    uid: u5
    ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: u4, controller: true}]
- {apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: shop, uid: u6}, spec: {nodeName: worker-1}}
- {apiVersion: batch/v1, kind: Job, metadata: {name: once, namespace: shop, uid: u7},
   spec: {selector: {matchLabels: {controller-uid: u7}}, template: {metadata: {labels: {controller-uid: u7, app: a}}}}}
`

// An export of a cluster fits a new one: it has no fields of the old one, and no object that the cluster creates.
func TestFitAnExport(t *testing.T) {
	kept, notes := Fit(loaded(t, export), []clusters.NodeGroup{{Name: "node"}}, false)
	var text strings.Builder
	for _, o := range kept {
		fmt.Fprintln(&text, o.Content.Object)
	}
	const want = `map[apiVersion:v1 kind:Service metadata:map[name:web namespace:shop] spec:map[ports:[map[port:80]] selector:map[app:web]]]
map[apiVersion:v1 kind:Service metadata:map[name:headless namespace:shop] spec:map[clusterIP:None]]
map[apiVersion:apps/v1 kind:StatefulSet metadata:map[name:web namespace:shop]]
map[apiVersion:apps/v1 kind:StatefulSet metadata:map[name:made-by-an-operator namespace:shop]]
map[apiVersion:example.com/v1 kind:Gadget metadata:map[name:mine namespace:shop]]
map[apiVersion:v1 kind:PersistentVolumeClaim metadata:map[annotations:map[mine:kept] name:data namespace:shop] ` +
		`spec:map[storageClassName:gp3]]
map[apiVersion:v1 kind:PersistentVolume metadata:map[name:pv-1] spec:map[claimRef:map[name:data namespace:shop] ` +
		`local:map[path:/a] nodeAffinity:map[required:map[nodeSelectorTerms:[map[matchExpressions:` +
		`[map[key:kubernetes.io/hostname operator:Exists]]]]]]]]
map[apiVersion:v1 data:map[mine:YQ==] kind:Secret metadata:map[annotations:` +
		`map[kubernetes.io/service-account.name:web] name:token namespace:shop] type:kubernetes.io/service-account-token]
map[apiVersion:v1 kind:Endpoints metadata:map[name:headless namespace:shop]]
map[apiVersion:v1 kind:Pod metadata:map[name:alone namespace:shop] spec:map[]]
map[apiVersion:batch/v1 kind:Job metadata:map[name:once namespace:shop] ` +
		`spec:map[template:map[metadata:map[labels:map[app:a]]]]]
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	for i, begins := range []string{
		"exported objects: 11", "exported objects that belong to another object which does not create them here: 1",
		"objects left out: 1, because every", "objects left out: 2, because the controllers", "Pods on another",
	} {
		if len(notes) != 5 || !strings.HasPrefix(notes[i], begins) {
			t.Fatalf("notes %q; want %q", notes, begins)
		}
	}
}

// An operator creates what belongs to its custom resources.
func TestFitWithOperators(t *testing.T) {
	with, _ := Fit(loaded(t, export), nil, true)
	without, _ := Fit(loaded(t, export), nil, false)
	if len(with) != len(without)-1 {
		t.Errorf("%d objects with the operator, %d without", len(with), len(without))
	}
}

// What a user wrote stays as it is, except for a node that does not exist.
func TestFitManifests(t *testing.T) {
	objects := loaded(t, `
{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {clusterIP: 10.96.0.9}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: node-0}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: worker-1}}
`)
	one := 1
	nodes := clusters.NodeGroup{Count: &one}
	node := nodes.Names()[0]
	objects[1].Content.Object["spec"] = map[string]any{"nodeName": node}
	kept, notes := Fit(objects, []clusters.NodeGroup{nodes}, false)
	if len(kept) != 3 || len(notes) != 1 || !strings.HasPrefix(notes[0], "Pods on another node than in the manifest: 1") {
		t.Fatalf("%d objects, notes %q", len(kept), notes)
	}
	for i, want := range []string{"map[clusterIP:10.96.0.9]", fmt.Sprintf("map[nodeName:%s]", node), "map[]"} {
		if got := fmt.Sprint(kept[i].Content.Object["spec"]); got != want {
			t.Errorf("%s: %s, want %s", kept[i], got, want)
		}
	}
	if got := fmt.Sprint(objects[2].Content.Object["spec"]); got != "map[nodeName:worker-1]" {
		t.Errorf("the given object was changed: %s", got)
	}
}

func loaded(t *testing.T, text string) []*manifests.Object {
	t.Helper()
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(text)}.Load()
	golden.Must(t, err)
	return objects
}
