package assertions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var selectsStatus = regexp.MustCompile(`\.\??status\b|\[\s*\??["']status["']\s*\]`)

// needsCurrentStatus reports whether an assertion is about the status, so that a status of an earlier generation
// cannot decide it. An assertion that names observedGeneration compares it itself.
func needsCurrentStatus(a scenarios.Assertion) bool {
	if a.Stale == scenarios.Allowed || a.Match["status"] == nil && !selectsStatus.MatchString(a.CEL) {
		return false
	}
	match, err := json.Marshal(a.Match)
	return err == nil && !strings.Contains(string(match)+a.CEL, "observedGeneration")
}

// staleStatus describes a status that is of an earlier generation than its object; "" if it is not, or if that is
// unknown.
func staleStatus(object *unstructured.Unstructured) string {
	generation := generationOf(object)
	observed, found, err := observedGeneration(object.Object, "status", "observedGeneration")
	switch {
	case err != nil || generation == 0 || found && observed >= generation || !found && !reportsGeneration(object):
		return ""
	case !found:
		return fmt.Sprintf("the object is of generation %d, its controller has not written a status yet", generation)
	default:
		return fmt.Sprintf("status is of generation %d, the object is at %d", observed, generation)
	}
}

// observedGeneration reads a generation that a controller has observed. Some kinds write it as text, for example
// Rollouts of Argo.
func observedGeneration(object map[string]any, path ...string) (generation int64, found bool, err error) {
	value, found, err := unstructured.NestedFieldNoCopy(object, path...)
	if text, ok := value.(string); ok {
		generation, err = strconv.ParseInt(text, 10, 64)
		return generation, found, err
	}
	if !found || err != nil {
		return 0, found, err
	}
	return unstructured.NestedInt64(object, path...)
}

// staleConditions describes the same for the conditions of an object, by their types.
func staleConditions(object *unstructured.Unstructured) map[string]string {
	generation := generationOf(object)
	stale := map[string]string{}
	for _, condition := range conditionsOf(object) {
		observed, found, err := observedGeneration(condition, "observedGeneration")
		if err == nil && found && observed < generation {
			kind := fmt.Sprint(condition["type"])
			stale[kind] = fmt.Sprintf("condition %s is of generation %d, the object is at %d", kind, observed, generation)
		}
	}
	return stale
}

// generationOf returns the generation that a status must be of. The request to delete an object increments the
// generation, but few controllers observe that.
func generationOf(object *unstructured.Unstructured) int64 {
	if object.GetDeletionTimestamp() != nil {
		return object.GetGeneration() - 1
	}
	return object.GetGeneration()
}

// reportsGeneration reports whether the kind's controller writes observedGeneration with the first status.
func reportsGeneration(object *unstructured.Unstructured) bool {
	gvk := object.GroupVersionKind()
	return gvk.Group == "apps" && gvk.Kind != "ControllerRevision" || gvk.Group == "" &&
		gvk.Kind == "ReplicationController" ||
		gvk.Group == "policy" && gvk.Kind == "PodDisruptionBudget"
}

func conditionsOf(object *unstructured.Unstructured) []map[string]any {
	list, _, err := unstructured.NestedFieldNoCopy(object.Object, "status", "conditions")
	if err != nil {
		return nil
	}
	items, _ := list.([]any)
	var conditions []map[string]any
	for _, item := range items {
		if condition, ok := item.(map[string]any); ok {
			conditions = append(conditions, condition)
		}
	}
	return conditions
}

// withoutStale returns an object without its conditions of an earlier generation.
func withoutStale(object *unstructured.Unstructured) *unstructured.Unstructured {
	stale := staleConditions(object)
	if len(stale) == 0 {
		return object
	}
	kept := []any{}
	for _, condition := range conditionsOf(object) {
		if stale[fmt.Sprint(condition["type"])] == "" {
			kept = append(kept, condition)
		}
	}
	status, _ := object.Object["status"].(map[string]any)
	status = maps.Clone(status)
	status["conditions"] = kept
	fields := maps.Clone(object.Object)
	fields["status"] = status
	return &unstructured.Unstructured{Object: fields}
}

// staleAmong is what is of an earlier generation among all candidates, for an expression about all of them.
type staleAmong struct {
	// status names a candidate with a stale status.
	status string
	// all are the candidates' fields without stale conditions, nil if there are none. conditions names the stale
	// conditions.
	all        []any
	conditions string
	// answer of CEL for all, if one is enough.
	answer *answer
}

func (j *judge) staleAmongAll() staleAmong {
	var among staleAmong
	var reasons []string
	var all []any
	for _, c := range j.sorted() {
		if why := staleStatus(c.object); why != "" && among.status == "" {
			among.status = c.object.GetName() + ": " + why
		}
		for _, why := range slices.Sorted(maps.Values(staleConditions(c.object))) {
			reasons = append(reasons, c.object.GetName()+": "+why)
		}
		all = append(all, withoutStale(c.object).Object)
	}
	if len(reasons) > 0 {
		among.all, among.conditions = all, strings.Join(reasons[:min(mostStale, len(reasons))], "; ")
	}
	return among
}

// mostStale is how many conditions of an earlier generation a message names.
const mostStale = 3

// rejectStale discards the result of a candidate if a status of an earlier generation decided it.
func (j *judge) rejectStale(c *candidate) {
	if why := cmp.Or(staleStatus(c.object), j.stale.status); why != "" {
		rest := maps.Clone(j.assertion.Match)
		delete(rest, "status")
		if len(matching.Match(rest, c.object.Object)) == 0 { // otherwise it does not match, whatever the status will be
			c.matches, c.unclear, c.stale = false, false, why
		}
		return
	}
	conditions := strings.Join(slices.Sorted(maps.Values(staleConditions(c.object))), "; ")
	if conditions == "" && j.stale.all == nil {
		return
	}
	current, all, answer := &candidate{object: withoutStale(c.object)}, j.all, j.answer
	if j.answer = nil; j.stale.all != nil {
		all, j.answer = j.stale.all, j.stale.answer
	}
	j.judge(current, all)
	j.stale.answer, j.answer = j.answer, answer
	if current.matches != c.matches {
		c.matches, c.unclear, c.stale = false, false, cmp.Or(conditions, j.stale.conditions)
	}
}
