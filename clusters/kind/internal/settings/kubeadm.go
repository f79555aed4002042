package settings

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// EditExtraArgs sets flags in kubeadm's extraArgs, and restores those of earlier states. extraArgs are a map up to
// v1beta3, and then a list of names and values.
func EditExtraArgs(args any, ours map[string]*string, wanted map[string]string) any {
	if list, isList := args.([]any); isList {
		kept := []any{}
		for _, item := range list {
			entry, _ := item.(Object)
			name, _ := entry["name"].(string)
			_, replaced := wanted[name]
			if _, known := ours[name]; !replaced && !known {
				kept = append(kept, item)
			}
		}
		for _, name := range clusters.SortedKeys(ours) {
			if _, replaced := wanted[name]; !replaced && ours[name] != nil {
				kept = append(kept, Object{"name": name, "value": *ours[name]})
			}
		}
		for _, name := range clusters.SortedKeys(wanted) {
			kept = append(kept, Object{"name": name, "value": wanted[name]})
		}
		return kept
	}
	edited := Object{}
	if existing, isMap := args.(Object); isMap {
		for name, value := range existing {
			edited[name] = value
		}
	}
	for name, before := range ours {
		if delete(edited, name); before != nil {
			edited[name] = *before
		}
	}
	for name, value := range wanted {
		edited[name] = value
	}
	return edited
}
