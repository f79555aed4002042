package scenarios

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// validator finds errors that the Go types cannot express: values that contradict each other or have no effect.
type validator struct {
	states.Check
	expressions *expressions.Evaluator
	// unnamed: the names of some steps are unknown, because of errors that are already reported.
	unnamed bool
}

func (v *validator) scenario(s *Scenario, n *yamltree.Node) {
	for _, message := range validation.IsDNS1123Subdomain(s.Metadata.Name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.At(n.At("metadata", "name"), "such as service-name-outlives-its-gate", "metadata.name %q: %s",
			words.Short(s.Metadata.Name), message)
	}
	spec := n.Get("spec")
	v.covers(s.Spec.Covers, spec.At("covers"))
	v.needs(s.Spec.Needs, spec.At("needs"))
	v.State(s.Spec.Cluster, spec.At("cluster"))
	for i := range s.Spec.Known {
		v.known(s, &s.Spec.Known[i], spec.At("known", i))
	}
}

func (v *validator) covers(ids []string, n *yamltree.Node) {
	seen := map[string]bool{}
	for i, id := range ids {
		if strings.TrimSpace(id) != id || id == "" {
			v.At(n.At(i), "", "%q is no id of a requirement", words.Short(id))
		}
		if seen[id] {
			v.At(n.At(i), "", "%s is covered twice", id)
		}
		seen[id] = true
	}
}

// among checks that the scenario covers the ids.
func (v *validator) among(ids, covered []string, n *yamltree.Node) {
	for i, id := range ids {
		if !slices.Contains(covered, id) {
			v.At(n.At(i), words.Suggest(id, covered, "the scenario covers"), "the scenario does not cover %q", words.Short(id))
		}
	}
}

func (v *validator) needs(abilities []clusters.Ability, n *yamltree.Node) {
	var known []string
	for _, ability := range clusters.Abilities() {
		known = append(known, string(ability))
	}
	for i, ability := range abilities {
		if ability == "" {
			v.At(n.At(i), "", "needs is empty")
		}
		v.OneOf(string(ability), known, n.At(i), "ability of clusters")
		if slices.Contains(abilities[:i], ability) {
			v.At(n.At(i), "", "%s is needed twice", words.Short(string(ability)))
		}
	}
}

func (v *validator) known(s *Scenario, k *KnownIssue, n *yamltree.Node) {
	if len(k.Covers) == 0 {
		v.At(n.At("covers"), "", "a known issue names the requirements that are not met")
	}
	v.among(k.Covers, s.Spec.Covers, n.At("covers"))
	if len(k.Versions)+len(k.Systems) == 0 {
		v.At(n.At("versions"), "give versions of Kubernetes, or of systems", "a known issue names the versions that have it")
	}
	for _, name := range clusters.SortedKeys(k.Systems) {
		if len(k.Systems[name]) == 0 {
			v.At(n.At("systems").Key(name), "", "a known issue names the versions of system %q that have it",
				words.Short(name))
		}
	}
	for i, text := range k.Versions {
		v.Version(text, n.At("versions", i))
	}
	if strings.TrimSpace(k.Reason) == "" {
		v.At(n.At("reason"), "", "describe the problem in one sentence")
	}
	if link, err := url.Parse(k.Link); k.Link != "" && (err != nil || link.Scheme == "" || link.Host == "") {
		v.At(n.At("link"), "", "%q is not a URL such as https://github.com/...", words.Short(k.Link))
	}
	v.notEmpty(n, "message")
	v.reference(s.Spec.Steps, k.Step, n.At("step"), "step")
}

// reference returns the one step that a name refers to. If there is not exactly one, it reports an error and returns
// nil.
func (v *validator) reference(steps []Step, name string, n *yamltree.Node, what string) *Step {
	var meant []*Step
	var names []string
	for i := range steps {
		if steps[i].Named(name) {
			meant = append(meant, &steps[i])
		}
		names = append(names, steps[i].Title())
	}
	switch {
	case len(meant) == 0 && v.unnamed:
		return nil
	case len(meant) == 0:
		v.At(n, words.Suggest(name, names, ""), "no %s is called %q", what, words.Short(name))
		return nil
	case len(meant) > 1 && meant[0].CaseName != "":
		v.At(n, fmt.Sprintf("name the row: %q", meant[0].Title()), "%d steps are called %q: it has a table", len(meant),
			words.Short(name))
		return nil
	case len(meant) > 1:
		v.At(n, fmt.Sprintf("the steps are in lines %d and %d; give them different names", meant[0].Position.Line,
			meant[1].Position.Line),
			"%d steps are called %q", len(meant), words.Short(name))
		return nil
	}
	return meant[0]
}

// text checks a condition on a text.
func (v *validator) text(t *Text, n *yamltree.Node) {
	if t == nil {
		return
	}
	if *t == (Text{}) {
		v.At(n, `an empty text is matches: "^$"`, "every text contains the empty string")
	} else {
		v.notEmpty(n, "contains", "lacks", "equals", "matches")
	}
	v.pattern(t.Matches, n.At("matches"))
}

// pattern checks a regular expression. It skips one that contains an expression, whose value is known only during the
// run.
func (v *validator) pattern(text string, n *yamltree.Node) {
	parts, wrong := expressions.Split(text)
	if wrong != nil || len(parts) != 1 || parts[0].IsExpression {
		return
	}
	if _, err := regexp.Compile(parts[0].Text); err != nil {
		v.At(n, "", "not a regular expression (RE2): %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

// uses reports whether an expression uses a variable.
func (v *validator) uses(expression, variable string) bool {
	if strings.TrimSpace(expression) == "" {
		return false
	}
	for _, u := range v.expressions.Check(expression).Uses {
		if u.Variable == variable {
			return true
		}
	}
	return false
}

// present checks that a field is not empty. Some verbs require a field that is optional in others.
func (v *validator) present(text string, n *yamltree.Node, name string) {
	if text == "" {
		v.At(n.At(name), "", "the field %q is missing", name)
	}
}
