package writes

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// differences returns how a rejection differs from the wanted one, nothing if it does not. If there are alternatives,
// it also returns which one matches.
func differences(want scenarios.Rejection, got metav1.Status) (problems []string, met string) {
	found := fieldDifferences(want, got)
	if len(want.AnyOf) == 0 {
		return found, ""
	}
	var unmet []string
	for i, alternative := range want.AnyOf {
		here, _ := differences(alternative, got)
		title := fmt.Sprintf("alternative %d of %d (%s)", i+1, len(want.AnyOf), describeRejection(alternative))
		if len(here) == 0 {
			return found, title
		}
		unmet = append(unmet, fmt.Sprintf("  %s:\n%s", title, indent(strings.Join(here, "\n"), "    ")))
	}
	return append(found, "anyOf: no alternative matches:\n"+strings.Join(unmet, "\n")), ""
}

// fieldDifferences returns field by field how a rejection differs from the wanted one.
func fieldDifferences(want scenarios.Rejection, got metav1.Status) []string {
	var found []string
	differ := func(field, wanted, was string) {
		found = append(found, fmt.Sprintf("%s:\n  want %s\n  got  %s", field, wanted, was))
	}
	if want.Code != 0 && want.Code != int(got.Code) {
		differ("code", fmt.Sprint(want.Code), fmt.Sprint(got.Code))
	}
	if want.Reason != "" && want.Reason != string(got.Reason) {
		differ("reason", want.Reason, orNone(string(got.Reason)))
	}
	if is := rejectedBy(got); want.By != "" && want.By != is.by {
		differ("by", want.By, is.String())
	}
	messages := []string{got.Message}
	if want.Field != "" {
		// The Status' message has the texts of all causes; only that of the named field counts.
		if named := messagesOf(causes(got), want.Field); len(named) > 0 {
			messages = named
		} else {
			differ("field", want.Field, orNone(strings.Join(namedFields(got), ", ")))
		}
	}
	// A text that a message must lack must be in none of them.
	if want.Message != nil && (!anyLike(*want.Message, messages) || !allLack(want.Message.Lacks, messages)) {
		differ("message", Describe(*want.Message), fmt.Sprintf("%q", strings.Join(messages, "; ")))
	}
	if want.Causes != nil && !sameCauses(want.Causes, causes(got)) {
		differ("causes", describeWanted(want.Causes), orNone(describeCauses(causes(got))))
	}
	return found
}

// sameCauses reports whether each wanted cause has its own match among the returned ones, and none is left over.
func sameCauses(want []scenarios.Cause, got []metav1.StatusCause) bool {
	if len(want) != len(got) {
		return false
	}
	if len(want) == 0 {
		return true
	}
	for i := range got {
		if !sameCause(want[0], got[i]) {
			continue
		}
		rest := append(append([]metav1.StatusCause{}, got[:i]...), got[i+1:]...)
		if sameCauses(want[1:], rest) {
			return true
		}
	}
	return false
}

func sameCause(want scenarios.Cause, got metav1.StatusCause) bool {
	return (want.Reason == "" || want.Reason == string(got.Type)) &&
		(want.Field == "" || want.Field == got.Field) &&
		(want.Message == nil || anyLike(*want.Message, []string{got.Message}))
}

func anyLike(want scenarios.Text, texts []string) bool {
	for _, text := range texts {
		if Unlike(want, text) == "" {
			return true
		}
	}
	return false
}

func allLack(text string, all []string) bool {
	return text == "" || !slices.ContainsFunc(all, func(one string) bool { return strings.Contains(one, text) })
}

// describeStatus describes a rejection in full, for a person.
func describeStatus(status metav1.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s: %s", status.Code, orNone(string(status.Reason)), status.Message)
	for _, cause := range causes(status) {
		fmt.Fprintf(&b, "\n  cause: %s", describeCause(cause))
	}
	if is := rejectedBy(status); is.by != "" {
		fmt.Fprintf(&b, "\n  rejected by: %s", is)
	}
	return b.String()
}

// describeRejection describes the wanted rejection in one line.
func describeRejection(want scenarios.Rejection) string {
	var parts []string
	if want.Code != 0 {
		parts = append(parts, fmt.Sprintf("code %d", want.Code))
	}
	if want.Reason != "" {
		parts = append(parts, "reason "+want.Reason)
	}
	if want.By != "" {
		parts = append(parts, "by "+want.By)
	}
	if want.Field != "" {
		parts = append(parts, "field "+want.Field)
	}
	if want.Message != nil {
		parts = append(parts, "a message that "+Describe(*want.Message))
	}
	if want.Causes != nil {
		parts = append(parts, "causes "+describeWanted(want.Causes))
	}
	if len(want.AnyOf) > 0 {
		var all []string
		for _, alternative := range want.AnyOf {
			all = append(all, "("+describeRejection(alternative)+")")
		}
		parts = append(parts, "any of "+strings.Join(all, " or "))
	}
	if len(parts) == 0 {
		return "any rejection"
	}
	return strings.Join(parts, ", ")
}

func describeWanted(causes []scenarios.Cause) string {
	var all []string
	for _, cause := range causes {
		text := strings.TrimSpace(cause.Reason + " " + cause.Field)
		if cause.Message != nil {
			text += " with a message that " + Describe(*cause.Message)
		}
		all = append(all, strings.TrimSpace(text))
	}
	return "[" + strings.Join(all, "; ") + "]"
}

func describeCauses(causes []metav1.StatusCause) string {
	var all []string
	for _, cause := range causes {
		all = append(all, describeCause(cause))
	}
	return strings.Join(all, "; ")
}

func describeCause(cause metav1.StatusCause) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s: %s", cause.Type, cause.Field, cause.Message))
}

func messagesOf(causes []metav1.StatusCause, field string) []string {
	var all []string
	for _, cause := range causes {
		if cause.Field == field {
			all = append(all, cause.Message)
		}
	}
	return all
}

func namedFields(status metav1.Status) []string {
	var all []string
	for _, cause := range causes(status) {
		if cause.Field != "" {
			all = append(all, cause.Field)
		}
	}
	return all
}

func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}
