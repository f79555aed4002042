package realtest

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

// passes runs a scenario and requires that all of it passes.
func passes(t *testing.T, text string) *reports.Run {
	t.Helper()
	result := run(t, clustertest.Local(t), text)
	if code := reports.ExitCode(result); code != reports.ExitPassed {
		t.Errorf("exit code %d:\n%s", code, explain(result))
	}
	return result
}

// On the way up and down, a Service is always there, and no pod is restarted or replaced. A rollout afterwards takes
// its usual steps.
func TestAllTheWayThrough(t *testing.T) {
	passes(t, `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: all-the-way-through}
spec:
  cluster: {version: "1.34", nodes: [{count: 3}]}
  timeout: 60s
  steps:
  - name: service
    create: {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
  - name: deployment
    create:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 3
        selector: {matchLabels: {app: web}}
        strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "web:1"}]}
  - eventually: {apiVersion: apps/v1, kind: Deployment, name: web, match: {status: {availableReplicas: 3, updatedReplicas: 3}}}
  - name: up
    transition: {version: "1.35"}
  - name: down
    transition: {version: "1.34"}
  - name: no pod was touched
    unchanged:
      apiVersion: v1
      kind: Pod
      selector: {app: web}
      paths: [metadata.uid, spec, "status.containerStatuses[*].restartCount"]
      throughout: [up, down]
  - name: new image
    patch: {apiVersion: apps/v1, kind: Deployment, name: web, strategic: {spec: {template: {spec: {containers: [{name: main, image: "web:2"}]}}}}}
  - name: rolled out
    sequence:
      throughout: [new image, rolled out]
      within: 60s
      events:
      - {apiVersion: apps/v1, kind: ReplicaSet, selector: {app: web}, type: added}
      - {apiVersion: v1, kind: Pod, selector: {app: web}, type: added, cel: 'object.spec.containers[0].image == "web:2"'}
      - {apiVersion: apps/v1, kind: ReplicaSet, selector: {app: web}, type: modified, cel: object.spec.replicas < before.spec.replicas}
      - {apiVersion: v1, kind: Pod, selector: {app: web}, type: deleted, cel: 'object.spec.containers[0].image == "web:1"'}
      - anyOrder:
        - {apiVersion: apps/v1, kind: Deployment, name: web, before: object.status.updatedReplicas < 3, cel: object.status.updatedReplicas == 3}
        - {apiVersion: apps/v1, kind: ReplicaSet, selector: {app: web}, type: modified, cel: object.spec.replicas == 0 && before.spec.replicas == 1}
  - always: {apiVersion: v1, kind: Service, name: web, throughout: [deployment, rolled out]}
  - always: {apiVersion: v1, kind: Pod, selector: {app: web}, count: {min: 3, max: 5}, throughout: [up, rolled out]}
`)
}

// A snapshot can be restored under another version than the one that stored it, and the cluster works on from there.
func TestSnapshotAndRestore(t *testing.T) {
	passes(t, `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: there-and-back}
spec:
  cluster: {version: "1.34", nodes: [{count: 2}]}
  timeout: 60s
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: early}, data: {n: "1"}}
    outputs: {uid: object.metadata.uid}
  - snapshot: {name: early}
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: later}}
  - patch: {apiVersion: v1, kind: ConfigMap, name: early, merge: {data: {n: "2"}}}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: early, match: {data: {n: "2"}}}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: later}
  - transition: {version: "1.35", nodes: [{count: 3}]}
  - restore: {name: early}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: later, absent: true}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: early, match: {data: {n: "1"}}, cel: object.metadata.uid == outputs.uid}
  - eventually: {apiVersion: v1, kind: Node, count: 3}
  - create:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "web:1"}]}
  - eventually: {apiVersion: v1, kind: Pod, selector: {app: web}, match: {status: {phase: Running}}, count: 2}
`)
}

// An API server does not show a field that its version does not know, though the stored object is the same.
// Assertions after a transition judge what the new API server shows. (spec.workloadRef of a Pod is only in 1.35.)
func TestWhatAnotherVersionShows(t *testing.T) {
	passes(t, `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: another-version-shows}
spec:
  cluster: {version: "1.35", featureGates: {GenericWorkload: true}, runtimeConfig: {scheduling.k8s.io/v1alpha1: "true"}}
  timeout: 60s
  steps:
  - create:
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        schedulerName: none
        workloadRef: {name: training, podGroup: workers}
        containers: [{name: main, image: "web:1"}]
    outputs: {version: object.metadata.resourceVersion}
  - eventually: {apiVersion: v1, kind: Pod, name: web, match: {spec: {workloadRef: {name: training}}}}
  - name: down
    transition: {version: "1.34", featureGates: {GenericWorkload: null}, runtimeConfig: {scheduling.k8s.io/v1alpha1: null}}
  - eventually: {apiVersion: v1, kind: Pod, name: web, within: 5s, cel: "!has(object.spec.workloadRef) && object.metadata.resourceVersion == outputs.version"}
  - name: it was shown otherwise
    sequence:
      throughout: [down, it was shown otherwise]
      events:
      - {apiVersion: v1, kind: Pod, name: web, before: has(object.spec.workloadRef), cel: "!has(object.spec.workloadRef)"}
`)
}
