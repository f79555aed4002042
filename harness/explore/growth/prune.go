package growth

import "github.com/rehearse-dev/rehearse/harness/explore/fields"

// prune removes the fields that the API server dropped from an object, except zero values. made is the returned
// object.
func prune(object, made map[string]any) {
	for key, value := range object {
		kept, there := made[key]
		if !there {
			if !fields.Zero(value) {
				delete(object, key)
			}
			continue
		}
		pruneValue(value, kept)
	}
}

func pruneValue(value, kept any) {
	switch value := value.(type) {
	case map[string]any:
		if kept, ok := kept.(map[string]any); ok {
			prune(value, kept)
		}
	case []any:
		kept, ok := kept.([]any)
		for i := 0; ok && len(value) == len(kept) && i < len(value); i++ {
			pruneValue(value[i], kept[i])
		}
	}
}
