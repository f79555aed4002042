package probes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const gadgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.test.rehearse.dev}
spec:
  group: test.rehearse.dev
  names: {plural: gadgets, kind: Gadget}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size, name, mode, open, parts, when, port, most, above]
            properties:
              size: {type: integer, minimum: 3}
              name: {type: string, minLength: 2}
              mode: {type: string, enum: [fast, slow]}
              open: {type: boolean}
              parts: {type: array, minItems: 2, items: {type: object, required: [id], properties: {id: {type: string, default: none}}}}
              when: {type: string, format: date-time}
              port: {x-kubernetes-int-or-string: true}
              most: {type: number, maximum: 0}
              above: {type: integer, minimum: 1, exclusiveMinimum: true}
              optional: {type: string}
`

const gadgetProbe = `    - apiVersion: test.rehearse.dev/v1
      kind: Gadget
      spec:
        above: 2
        mode: fast
        most: 0
        name: xx
        open: false
        parts:
        - id: none
        - id: none
        port: 1
        size: 3
        when: "2026-01-01T00:00:00Z"
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	golden.Write(t, path, text)
	return path
}

func webhook(kind, client, rules, more string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: c}\nwebhooks:\n" +
		"- {name: w, clientConfig: {" + client + "}, rules: [" + rules + "]" + more + "}\n"
}

// A webhook that is called on creation needs a probe, which the check of a system finds before the cluster exists.
func TestCheckProbes(t *testing.T) {
	const service = "service: {name: x, namespace: ns}"
	const gadgets = "{apiGroups: [test.rehearse.dev], apiVersions: [v1], operations: [UPDATE, CREATE], resources: " +
		"[gadgets]}"
	const validating, mutating = "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
	probe := []map[string]any{{"apiVersion": "v1", "kind": "Pod"}}
	for name, test := range map[string]struct {
		webhook, crd string
		probes       []map[string]any
		want         string // a part of the error, "" for no error
		manifests    bool
	}{
		"with what its schema requires": {
			webhook: webhook(validating, service, gadgets, ""), crd: gadgetCRD,
			want: gadgetProbe,
		},
		"a mutating one": {
			webhook: webhook(mutating, service, gadgets, ""), crd: gadgetCRD,
			want: "webhook w (MutatingWebhookConfiguration c)",
		},
		"of the cluster's own": {
			webhook: webhook(mutating, service, gadgets, ""), crd: gadgetCRD,
			want: gadgetProbe, manifests: true,
		},
		"elsewhere, not of a process": {
			webhook: webhook(validating, `url: "https://example.org/"`, gadgets, ""),
			crd:     gadgetCRD,
		},
		"elsewhere, of the cluster's": {
			webhook: webhook(validating, `url: "https://example.org/"`, gadgets, ""),
			crd:     gadgetCRD, want: gadgetProbe, manifests: true,
		},
		"a kind that comes with Kubernetes": {
			webhook: webhook(validating, service,
				`{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [pods, pods/exec]}`, ""), crd: gadgetCRD,
			want: "    - apiVersion: v1\n      kind: Pod\n",
		},
		"everything": {
			webhook: webhook(validating, service,
				`{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*/*"]}`, ""), crd: gadgetCRD,
			want: "    - apiVersion: v1\n      kind: ConfigMap\n",
		},
		"a kind that no file tells of": {
			webhook: webhook(validating, service,
				`{apiGroups: [a.example.com], apiVersions: [v2], operations: [CREATE], resources: [things]}`, ""), crd: gadgetCRD,
			want: "    - apiVersion: a.example.com/v2\n      kind: the kind of things\n",
		},
		"chosen by a label": {
			webhook: webhook(validating, service,
				`{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}`,
				", objectSelector: {matchLabels: {a: b}}"), crd: gadgetCRD,
			want: "      metadata:\n        labels:\n          a: b\n",
		},
		"called for updates alone": {webhook: webhook(validating, service,
			`{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods]}`, ""), crd: gadgetCRD},
		"with a probe": {webhook: webhook(validating, service, gadgets, ""), crd: gadgetCRD, probes: probe},
	} {
		t.Run(name, func(t *testing.T) {
			system := clusters.System{Name: "gadgets", Probes: test.probes}
			if test.manifests {
				system.Manifests = []string{write(t, test.crd+"---\n"+test.webhook)}
			} else {
				system.Process = &clusters.SystemProcess{
					Command: []string{"sh"}, CRDs: []string{write(t, test.crd)},
					Webhooks: []string{write(t, test.webhook)},
				}
			}
			err := systems.Check(t.Context(), []clusters.System{system}, nil, nil)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}
