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
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template:
    spec:
      topologySpreadConstraints:
      - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
      - {topologyKey: example.com/rack, whenUnsatisfiable: ScheduleAnyway}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: tier, operator: In, values: [fast, slow]}
              - {key: ssd, operator: Exists}
              - {key: old, operator: DoesNotExist}
            - matchExpressions: [{key: other, operator: In, values: [x]}]
  volumeClaimTemplates:
  - spec: {storageClassName: gp3}
  - spec: {storageClassName: given}
  - spec: {storageClassName: static}
  - spec: {storageClassName: ""}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: given}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {storageClassName: static}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: made, annotations: {pv.kubernetes.io/provisioned-by: csi}}
spec: {storageClassName: gp3}
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
		Labels: map[string]string{
			"pool": "gpu", "tier": "fast", "ssd": "rehearse", "topology.kubernetes.io/zone": "rehearse",
		},
		Classes: []string{"gp3"},
	}
	if got := PlacementOf(objects); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
