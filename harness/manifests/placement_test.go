package manifests

import (
	"reflect"
	"strings"
	"testing"
)

func TestPlacementOf(t *testing.T) {
	objects, err := Sources{Paths: []string{"-"}, Stdin: strings.NewReader(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  template:
    spec:
      nodeSelector: {pool: gpu, kubernetes.io/os: linux, zone: a}
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1, cpu: 1}, requests: {hugepages-2Mi: 4Mi}}}]
---
apiVersion: example.com/v1
kind: Job
metadata: {name: custom}
spec: {workers: [{template: {spec: {nodeSelector: {zone: b, pool: gpu}}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: mistakes}
spec:
  nodeSelector: {"${KEY}": x, pool2: "${POOL}"}
  containers: [{name: c, resources: {limits: {"example.com/${NAME}": 1}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.example.com}
spec: {versions: [{schema: {openAPIV3Schema: {properties: {nodeSelector: {type: object, description: "Selects nodes."}}}}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota}
spec: {hard: {requests.nvidia.com/gpu: 4}}
`)}.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := Placement{
		Capacity: map[string]string{"nvidia.com/gpu": "1000", "hugepages-2Mi": "64Gi"},
		Labels:   map[string]string{"pool": "gpu"},
	}
	if got := PlacementOf(objects); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
