package survey

import (
	"fmt"
	"slices"
)

// losses are what an object has lost, as words, and as a class: the names of the conditions and fields.
type losses struct{ words, class []string }

func (l *losses) add(name, format string, values ...any) {
	l.words, l.class = append(l.words, fmt.Sprintf(format, values...)), append(l.class, name)
}

// lossesBetween compares two states of an object.
func lossesBetween(before, now standing) losses {
	var lost losses
	for _, condition := range before.conditions {
		// The containers of a pod that succeeded are not ready any more.
		ended := now.phase == "Succeeded" && (condition == "Ready" || condition == "ContainersReady")
		if !slices.Contains(now.conditions, condition) && good(condition) && !ended {
			lost.add(condition, "condition %s was True and is not", condition)
		}
	}
	for _, condition := range now.conditions {
		if !slices.Contains(before.conditions, condition) && bad(condition) {
			lost.add(condition, "condition %s is True", condition)
		}
	}
	if before.phase != now.phase && slices.Contains([]string{
		"Failed", "Lost", "Pending", "Released", "Terminating",
		"Unknown",
	}, now.phase) {
		lost.add("phase "+now.phase, "its phase was %s and is %s", before.phase, now.phase)
	}
	for _, field := range append(counted(), "ready endpoints") {
		if was, is := before.counts[field], now.counts[field]; is < was {
			lost.add(field, "%s was %d and is %d", field, was, is)
		}
	}
	for _, field := range []string{"podIP", "loadBalancer"} {
		if was, is := before.addresses[field], now.addresses[field]; was != "" && was != is {
			lost.add(field, "its %s was %s and is %q", field, was, is)
		}
	}
	if len(now.stored) > len(before.stored) {
		lost.add("storedVersions", "%s", goneWords(now.stored))
	}
	return lost
}
