package webhooks

import (
	"encoding/base64"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMoveCalls(t *testing.T) {
	const from, to, ca = "https://127.0.0.1:1", "https://127.0.0.1:2", "ours\n"
	object := func(url, bundle string) *unstructured.Unstructured {
		client := func() any {
			return map[string]any{"url": url, "caBundle": base64.StdEncoding.EncodeToString([]byte(bundle))}
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "K", "metadata": map[string]any{"name": "n"},
			"webhooks": []any{map[string]any{"clientConfig": client()}},
			"spec":     map[string]any{"conversion": map[string]any{"webhook": map[string]any{"clientConfig": client()}}},
		}}
	}
	for _, test := range []struct{ url, bundle, want, wrong string }{
		{from, "ours", to, ""},
		{from + "/judge", ca, to + "/judge", ""},
		{from + "1/judge", ca, from + "1/judge", ""},
		{"https://elsewhere", "theirs", "https://elsewhere", ""},
		{from + "/judge", "theirs", from + "/judge", "K n trusts the system's own authority"},
	} {
		o := object(test.url, test.bundle)
		moved, err := moveCalls(o, from, to, []byte(ca))
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v, want %q", test.url, err, test.wrong)
		}
		if want := test.want != test.url; moved != want {
			t.Errorf("%s: moved %t, want %t", test.url, moved, want)
		}
		for _, client := range clientsOf(o) {
			if client["url"] != test.want {
				t.Errorf("%s: got %s, want %s", test.url, client["url"], test.want)
			}
		}
	}
}
