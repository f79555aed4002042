package systems

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A folder with a kustomization contains what kustomize builds, not the files in it.
func TestKustomized(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
		err   string
	}{
		"built": {map[string]string{
			"kustomization.yaml": "namePrefix: op-\nresources: [a.yaml]\npatches: [{path: patch.yaml}]\n",
			"a.yaml":             widgetWebhook,
			"patch.yaml": "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n" +
				"metadata: {name: widgets}\nwebhooks: [{name: w, objectSelector: {matchLabels: {a: b}}}]\n",
		}, "op-widgets map[a:b]", ""},
		"plain":       {map[string]string{"a.yaml": widgetWebhook}, "widgets map[]", ""},
		"without one": {map[string]string{"kustomization.yml": "resources: [b.yaml]\n"}, "", "build kustomization"},
	} {
		dir := t.TempDir()
		for file, text := range test.files {
			golden.Write(t, filepath.Join(dir, file), text)
		}
		found, err := readKinds([]string{dir}, isWebhook)
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
