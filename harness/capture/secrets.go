package capture

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hideSecrets replaces the values of a Secret with dummies of the same length, which the API server accepts for its
// type. It also replaces the values in the last manifest, which kubectl keeps in an annotation, and wherever they stand
// in other annotations: other tools keep the manifest, too. If a tool compresses it, the annotation is replaced as a
// whole.
func hideSecrets(o *unstructured.Unstructured) {
	if o.GetKind() != "Secret" || o.GetAPIVersion() != "v1" {
		return
	}
	values := SecretValues(o)
	hideData(o.Object)
	annotations := o.GetAnnotations()
	for key, text := range annotations {
		for _, value := range values {
			if key != corev1.LastAppliedConfigAnnotation {
				text = strings.ReplaceAll(text, value, strings.Repeat("x", len(value)))
			}
		}
		if compressed(text) {
			text = strings.Repeat("x", len(text))
		}
		annotations[key] = text
	}
	if len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
	last, ok := annotations[corev1.LastAppliedConfigAnnotation]
	if !ok {
		return
	}
	annotations[corev1.LastAppliedConfigAnnotation] = ""
	manifest := map[string]any{}
	if json.Unmarshal([]byte(last), &manifest) == nil {
		hideData(manifest)
		if text, err := json.Marshal(manifest); err == nil {
			annotations[corev1.LastAppliedConfigAnnotation] = string(text) + "\n" // as kubectl writes it
		}
	}
	o.SetAnnotations(annotations)
}

// compressed reports whether a text is compressed data in base64: gzip, zlib or zstd.
func compressed(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		data, err := encoding.DecodeString(text)
		for _, magic := range []string{"\x1f\x8b", "\x78\x01", "\x78\x9c", "\x78\xda", "\x28\xb5\x2f\xfd"} {
			if err == nil && strings.HasPrefix(string(data), magic) {
				return true
			}
		}
	}
	return false
}

func hideData(secret map[string]any) {
	if data, ok := secret["data"].(map[string]any); ok {
		for key, value := range data {
			text, _ := value.(string)
			plain, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				plain = []byte(text)
			}
			data[key] = base64.StdEncoding.EncodeToString([]byte(dummy(key, len(plain))))
		}
	}
	if data, ok := secret["stringData"].(map[string]any); ok {
		for key, value := range data {
			text, _ := value.(string)
			data[key] = dummy(key, len(text))
		}
	}
}

// dummy returns a value of the given length. Some keys must contain JSON.
func dummy(key string, length int) string {
	switch {
	case (key == corev1.DockerConfigJsonKey || key == corev1.DockerConfigKey) && length >= 2:
		return "{}" + strings.Repeat(" ", length-2)
	default:
		return strings.Repeat("x", length)
	}
}
