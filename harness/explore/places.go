package explore

import (
	"regexp"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
)

// fieldPath matches the path of a field in a message.
var fieldPath = regexp.MustCompile(`[A-Za-z_]+(?:\[[^\]]*\])*(?:\.[A-Za-z_]+(?:\[[^\]]*\])*)+`)

// mentioned are the places of an object that a message names.
func mentioned(words string, object map[string]any) []fields.Place {
	var all []fields.Place
	for _, text := range fieldPath.FindAllString(words, -1) {
		place := fields.ParsePlace(text)
		if _, there := fields.Get(object, place); there {
			all = append(all, place)
		}
	}
	return all
}

// places are the places of an object that belong to a field, such as spec.rules[].host.
func places(object map[string]any, field string) []fields.Place {
	var all []fields.Place
	for _, leaf := range growth.Places(object) {
		for n := range leaf {
			if place := leaf[: n+1 : n+1]; item.ReplaceAllString(place.String(), "[]") == field {
				all = append(all, place)
			}
		}
	}
	return all
}
