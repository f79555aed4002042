package documents

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

const webhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- {name: w}
---
apiVersion: v1
kind: Namespace
metadata: {name: ns}
`

func isWebhook(o *unstructured.Unstructured) bool {
	return o.GetKind() == "ValidatingWebhookConfiguration"
}

// A folder with a kustomization contains what kustomize builds, not the files in it.
func TestKustomized(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
		err   string
	}{
		"built": {map[string]string{
			"kustomization.yaml": "namePrefix: op-\nresources: [a.yaml]\npatches: [{path: patch.yaml}]\n",
			"a.yaml":             webhook,
			"patch.yaml": "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n" +
				"metadata: {name: widgets}\nwebhooks: [{name: w, objectSelector: {matchLabels: {a: b}}}]\n",
		}, "op-widgets map[a:b]", ""},
		"plain":       {map[string]string{"a.yaml": webhook}, "widgets map[]", ""},
		"without one": {map[string]string{"kustomization.yml": "resources: [b.yaml]\n"}, "", "build kustomization"},
	} {
		dir := t.TempDir()
		for file, text := range test.files {
			golden.Write(t, filepath.Join(dir, file), text)
		}
		found, err := OfKinds([]string{dir}, isWebhook)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), "b.yaml") {
				t.Errorf("%s: %v, want %q", name, err, test.err)
			}
			continue
		}
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", name, found, err)
			continue
		}
		if got := found[0].GetName() + " " + selectorOf(found[0]); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// selectorOf is the object selector of the configuration's webhook w, at any index.
func selectorOf(configuration *unstructured.Unstructured) string {
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	for _, item := range webhooks {
		webhook, _ := item.(map[string]any)
		if webhook["name"] == "w" {
			labels, _, _ := unstructured.NestedStringMap(webhook, "objectSelector", "matchLabels")
			return fmt.Sprint(labels)
		}
	}
	return "none"
}

func TestParseTakesListsApart(t *testing.T) {
	objects, err := parse("x",
		[]byte("---\n# nothing\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: "+
			"v1, kind: Service}\n---\napiVersion: v1\nkind: Secret\n"))
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	if got := strings.Join(kinds, " "); got != "Pod Service Secret" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := parse("x", []byte("# nothing\n")); err == nil {
		t.Error("an empty file holds something")
	}
}
