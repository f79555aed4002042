package capture

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hideSecrets replaces the values of a Secret with dummies of the same length, which the API server accepts for its
// type. It also replaces the values in the last manifest, which kubectl keeps in an annotation, and wherever they stand
// in other annotations: other tools keep the manifest, too.
func hideSecrets(o *unstructured.Unstructured) {
	if o.GetKind() != "Secret" || o.GetAPIVersion() != "v1" {
		return
	}
	values := valuesOf(o.Object)
	hideData(o.Object)
	annotations := o.GetAnnotations()
	for key, text := range annotations {
		for _, value := range values {
			if key != corev1.LastAppliedConfigAnnotation {
				text = strings.ReplaceAll(text, value, strings.Repeat("x", len(value)))
			}
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

// shortest is the length of the shortest value that is looked for in annotations: shorter ones stand everywhere.
const shortest = 4

// valuesOf are a Secret's values as they may stand in a text: in base64, plain, and plain in JSON. The longest comes
// first.
func valuesOf(secret map[string]any) []string {
	var values []string
	add := func(text string) {
		if len(text) >= shortest {
			values = append(values, text)
			if quoted, err := json.Marshal(text); err == nil {
				values = append(values, string(quoted[1:len(quoted)-1]))
			}
		}
	}
	data, _ := secret["data"].(map[string]any)
	for _, value := range data {
		text, _ := value.(string)
		add(text)
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			add(string(plain))
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(values)
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
