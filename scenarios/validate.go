package scenarios

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
)

// validator finds what the types alone cannot tell: values that do not go together, or mean nothing.
type validator struct {
	*problems
	expressions *Expressions
}

func (v *validator) scenario(s *Scenario, n *node) {
	for _, message := range validation.IsDNS1123Subdomain(s.Metadata.Name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.at(n.at("metadata", "name"), "such as service-name-outlives-its-gate", "metadata.name %q: %s",
			short(s.Metadata.Name), message)
	}
	spec := n.get("spec")
	v.covers(s.Spec.Covers, spec.at("covers"))
	v.needs(s.Spec.Needs, spec.at("needs"))
	v.state(s.Spec.Cluster, spec.at("cluster"))
	for i := range s.Spec.Known {
		v.known(s, &s.Spec.Known[i], spec.at("known", i))
	}
}

func (v *validator) covers(ids []string, n *node) {
	seen := map[string]bool{}
	for i, id := range ids {
		if strings.TrimSpace(id) != id || id == "" {
			v.at(n.at(i), "", "%q is no id of a requirement", short(id))
		}
		if seen[id] {
			v.at(n.at(i), "", "%s is covered twice", id)
		}
		seen[id] = true
	}
}

// among finds ids that the scenario does not cover.
func (v *validator) among(ids, covered []string, n *node) {
	for i, id := range ids {
		if !slices.Contains(covered, id) {
			v.at(n.at(i), suggest(id, covered, "the scenario covers"), "the scenario does not cover %q", short(id))
		}
	}
}

func (v *validator) needs(abilities []clusters.Ability, n *node) {
	var known []string
	for _, ability := range clusters.Abilities() {
		known = append(known, string(ability))
	}
	for i, ability := range abilities {
		if ability == "" {
			v.at(n.at(i), "", "there is nothing that is needed")
		}
		v.oneOf(string(ability), known, n.at(i), "ability of clusters")
		if slices.Contains(abilities[:i], ability) {
			v.at(n.at(i), "", "%s is needed twice", short(string(ability)))
		}
	}
}

func (v *validator) known(s *Scenario, k *KnownIssue, n *node) {
	if len(k.Covers) == 0 {
		v.at(n.at("covers"), "", "a known issue names the requirements that are not met")
	}
	v.among(k.Covers, s.Spec.Covers, n.at("covers"))
	if len(k.Versions) == 0 {
		v.at(n.at("versions"), "", "a known issue names the versions that have it")
	}
	for i, text := range k.Versions {
		v.version(text, n.at("versions", i))
	}
	if strings.TrimSpace(k.Reason) == "" {
		v.at(n.at("reason"), "", "say in a sentence what goes wrong")
	}
	if link, err := url.Parse(k.Link); k.Link != "" && (err != nil || link.Scheme == "" || link.Host == "") {
		v.at(n.at("link"), "", "%q is no address such as https://github.com/...", short(k.Link))
	}
	v.reference(s.Spec.Steps, k.Step, n.at("step"), "step")
}

// reference finds the one step that is meant by a name.
func (v *validator) reference(steps []Step, name string, n *node, what string) *Step {
	var meant []*Step
	var names []string
	for i := range steps {
		if steps[i].Named(name) {
			meant = append(meant, &steps[i])
		}
		names = append(names, steps[i].Title())
	}
	switch {
	case len(meant) == 0:
		v.at(n, suggest(name, names, ""), "no %s is called %q", what, short(name))
		return nil
	case len(meant) > 1 && meant[0].CaseName != "":
		v.at(n, fmt.Sprintf("name the row: %q", meant[0].Title()), "%d steps are called %q: it has a table", len(meant),
			short(name))
		return nil
	case len(meant) > 1:
		v.at(n, fmt.Sprintf("the steps are in lines %d and %d; give them names of their own", meant[0].Position.Line,
			meant[1].Position.Line),
			"%d steps are called %q", len(meant), short(name))
		return nil
	}
	return meant[0]
}

func (v *validator) version(text string, n *node) {
	if _, err := clusters.ParseVersion(text); err != nil {
		v.at(n, "", "%v", err)
	}
}

// text checks a condition on a text.
func (v *validator) text(t *Text, n *node) {
	if t == nil {
		return
	}
	if *t == (Text{}) {
		v.at(n, `an empty text is matches: "^$"`, "every text contains this: there is nothing to look for")
	}
	v.pattern(t.Matches, n.at("matches"))
}

// pattern checks a regular expression, unless a part of it is known only in the run.
func (v *validator) pattern(text string, n *node) {
	parts, wrong := splitTemplate(text)
	if wrong != nil || len(parts) != 1 || parts[0].isExpression {
		return
	}
	if _, err := regexp.Compile(parts[0].text); err != nil {
		v.at(n, "", "not a regular expression (RE2): %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

// oneOf checks a word against those that there are; nothing is as good as any.
func (v *validator) oneOf(text string, known []string, n *node, what string) {
	if text != "" && !slices.Contains(known, text) {
		v.at(n, suggest(text, known, "there are"), "no %s is called %q", what, short(text))
	}
}

// uses says whether an expression mentions a variable.
func (v *validator) uses(expression, variable string) bool {
	if strings.TrimSpace(expression) == "" {
		return false
	}
	for _, u := range v.expressions.cache.get(expression).uses {
		if u.variable == variable {
			return true
		}
	}
	return false
}

// present demands a field that only this verb needs.
func (v *validator) present(text string, n *node, name string) {
	if text == "" {
		v.at(n.at(name), "", "the field %q is missing", name)
	}
}
