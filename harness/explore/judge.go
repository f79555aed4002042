package explore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// group is one finding: sightings that have one cause.
type group struct {
	key string
	// gate that its objects depend on, if gates are explored; several are separated by commas.
	gate    string
	sort    explorations.Sort
	rule    string
	checks  []string
	kinds   []string
	finding *upgrades.Finding
	entries []*entry
	route
	// common is the route on which the finding was reduced, if route is that of its own gate.
	common *route
	// smallest is the smallest entry that shows it.
	smallest *entry
	scenario string
	// number is in the name of the object. definition is the CustomResourceDefinition of a custom kind.
	number     int
	definition map[string]any
	proof      explorations.Proof
	// rejected says that its scenario failed before the step that shows the finding.
	rejected bool
	// forGood says that the rollback does not fix it if the object was written meanwhile.
	forGood bool
	// panics are the states whose API server panics.
	panics []string
}

// route leads to a finding.
type route struct {
	// from is the state in which the object was created. before and to are the states before and after the hop. path is
	// the shortest that shows the finding.
	from, before, to clusters.State
	path             []clusters.State
}

// take groups the sightings of a survey, and reports what it could not judge. Twins come last: what they share with
// unwritten objects does not come from the writes.
func (e *exploration) take(seen []*sighting) {
	slices.SortStableFunc(seen, func(a, b *sighting) int { return cmp.Compare(rank(a.written), rank(b.written)) })
	for _, s := range seen {
		if note := noteOf(s.finding); note != "" {
			if !slices.Contains(e.report.Notes, note) {
				e.report.Notes = append(e.report.Notes, note)
			}
			continue
		}
		if s.finding.Severity == upgrades.Unjudged {
			e.report.Unjudged = append(e.report.Unjudged, fmt.Sprintf("%s: %s: %s", s.finding.Kind, s.finding.What,
				s.finding.Words))
			continue
		}
		sort, rule := judge(s.finding)
		if sort == "" || s.written && e.shared(s) {
			continue
		}
		if s.written {
			sort, rule = explorations.Defect, "a state must read unchanged what the state before it wrote"
		}
		if len(s.entries) == 0 {
			e.groupOf(s, "", sort, rule).add(s, sort, nil, s.before)
		}
		for i, one := range s.entries {
			e.groupOf(s, strings.Join(one.gates, ","), sort, rule).add(s, sort, one, s.made[i])
		}
	}
}

// noteOf is a note about a finding that could not be judged because the object was generated: Kubernetes deletes it
// at once, or no node takes its pods. A user's own object would show something about versions. It is "" for others.
func noteOf(f *upgrades.Finding) string {
	switch {
	case f.Severity != upgrades.Unjudged:
	case f.Words == survey.GoneAtOnce:
		return "objects of " + f.Kind + " were gone before their first check, so they were not checked"
	case strings.HasPrefix(f.Words, survey.Blocked):
		return "objects of " + f.Kind + " have pods that do not run, so it was not checked whether pods restart"
	}
	return ""
}

// rank sorts true after false.
func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// shared reports whether unwritten objects show the same. It also marks findings that a write makes permanent: an
// older version that does not show a field removes it when it writes the object.
func (e *exploration) shared(s *sighting) bool {
	of := *s
	of.written = false
	key, found := keyOf(&of), false
	for _, g := range e.groups {
		if g.key != key {
			continue
		}
		found = true
		if strings.HasSuffix(g.finding.Back, survey.Fixes) && strings.HasSuffix(s.finding.Back, survey.DoesNotFix) {
			g.forGood = true
		}
	}
	return found
}

// panicked reports an object that makes the API server panic. There is one finding for each kind: it has the first
// object, and all states.
func (e *exploration) panicked(object *growth.Specimen, state clusters.State) {
	name := nameOf(state)
	kind := object.Kind.GroupKind().String()
	key := "panic|" + kind + "|"
	if i := slices.IndexFunc(e.groups, func(g *group) bool { return g.key == key }); i >= 0 {
		if g := e.groups[i]; !slices.Contains(g.panics, name) {
			g.panics = append(g.panics, name)
		}
		return
	}
	e.groups = append(e.groups, &group{
		key: key, sort: explorations.Defect, rule: "an API server must answer every request",
		finding: &upgrades.Finding{
			Severity: upgrades.Breaks, Check: "control plane", Kind: kind,
			What: "kube-apiserver panics when it receives an object", Words: string(object.Body),
		},
		checks: []string{"control plane"}, kinds: []string{kind}, proof: explorations.NotTried, panics: []string{name},
		route: route{from: state, before: state, to: state},
	})
}

// groupOf is the group of a sighting whose objects depend on the gate. It is created if there is none.
func (e *exploration) groupOf(s *sighting, gate string, sort explorations.Sort, rule string) *group {
	key := keyOf(s)
	at := slices.IndexFunc(e.groups, func(g *group) bool { return g.key == key && g.gate == gate })
	if at < 0 {
		e.groups = append(e.groups, &group{
			key: key, gate: gate, sort: sort, rule: rule, finding: s.finding,
			route:  route{from: s.before, before: s.before, to: s.to},
			checks: append([]string{s.finding.Check}, s.finding.Checks...), proof: explorations.NotTried,
		})
		at = len(e.groups) - 1
	}
	e.groups[at].judged(s, sort, rule)
	return e.groups[at]
}

// judged makes the group at least as bad as one of its sightings: some objects lose for good what others only hide.
func (g *group) judged(s *sighting, sort explorations.Sort, rule string) {
	if sort.Worse(g.sort) {
		g.sort, g.rule, g.finding, g.smallest = sort, rule, s.finding, nil
	}
}

// add adds an object that shows the finding. Only one that is as bad as the group can be its smallest.
func (g *group) add(s *sighting, sort explorations.Sort, one *entry, made clusters.State) {
	if !slices.Contains(g.kinds, s.finding.Kind) {
		g.kinds = append(g.kinds, s.finding.Kind)
	}
	if one != nil {
		g.entries = append(g.entries, one)
		if sort == g.sort && (g.smallest == nil || len(one.Body) < len(g.smallest.Body)) {
			g.smallest, g.finding, g.from = one, s.finding, made
		}
	}
}

// stuck are the checks of writes that must always be possible for a stored object.
func stuck() []string {
	return []string{
		string(survey.Update), string(survey.Label), string(survey.Status), string(survey.Scale),
		string(survey.Finalizer), string(survey.Delete), string(survey.Evict),
	}
}

// judge reports whether a finding is a defect or a hazard, and by which rule. The sort is "" if it is neither.
// docs/explore.md lists the rules.
func judge(f *upgrades.Finding) (explorations.Sort, string) {
	has := func(checks ...string) bool {
		return slices.ContainsFunc(append([]string{f.Check}, f.Checks...), func(c string) bool {
			return slices.Contains(checks, c)
		})
	}
	const readable = "a stored object must be readable while its kind is served"
	unserved := strings.Contains(f.Words, "serves no version of kind")
	switch f.Severity {
	case upgrades.Before:
		if has(string(survey.Read)) && !unserved {
			return explorations.Defect, readable
		}
		if has(stuck()...) {
			return explorations.Defect, "an API server must accept an unchanged update of an object that it has created"
		}
		if has(string(survey.Keep)) {
			return explorations.Defect, "a write must keep the fields that it does not mention"
		}
		return "", ""
	case upgrades.Breaks:
	default:
		return "", ""
	}
	fixed := strings.HasSuffix(f.Back, survey.Fixes)
	switch {
	case has("control plane"):
		return explorations.Defect, "the control plane and the systems must start and keep running, whatever is stored"
	case has(string(survey.Read)) && unserved:
		return explorations.Hazard, "the state does not serve the kind"
	case has(string(survey.Read)):
		return explorations.Defect, readable
	case has(string(survey.Moved)):
		return explorations.Defect, "nothing may be restarted, replaced or deleted without a user action"
	case has(stuck()...):
		return explorations.Defect, "a stored object must stay editable and deletable"
	case has(string(survey.Condition)):
		return explorations.Defect, "the status of an object must not become worse"
	case has(string(survey.Keep)):
		return explorations.Defect, "a write must keep the fields that it does not mention"
	case has(string(survey.Content)) && fixed:
		return explorations.Hazard, "the state hides the field, but keeps it"
	case has(string(survey.Content)) && strings.HasSuffix(f.Back, survey.NotRehearsed):
		return explorations.Hazard, "the state hides the field; whether it keeps it was not tried"
	case has(string(survey.Content)):
		return explorations.Defect, "a field must not be lost for good without a write"
	case has(string(survey.Apply)) && !has(string(survey.Create)):
		return explorations.Defect, "a manifest of which a new object is accepted must be applicable to the stored one"
	}
	return explorations.Hazard, "the state rejects new objects of this form, but accepts updates of stored ones"
}

// keyOf is equal for sightings of one cause: the same checks fail on the same hop with the same words. Names, values,
// kinds, and the place of the field in the object may differ.
func keyOf(s *sighting) string {
	checks := append([]string{s.finding.Check}, s.finding.Checks...)
	slices.SortFunc(checks, cmp.Compare[string])
	parts := []string{
		nameOf(s.before), nameOf(s.to), strings.Join(checks, ","), string(s.finding.Severity), class(s.finding),
	}
	if s.written {
		parts = append(parts, "written")
	}
	return strings.Join(parts, "|")
}

var (
	quotedText  = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	structValue = regexp.MustCompile(`Invalid value: (?:\w+(?:\.\w+)*)?\{.*\}: `)
	number      = regexp.MustCompile(`\[?\b\d+\b\]?`)
	dotted      = regexp.MustCompile(`\b(?:[a-zA-Z_]+(?:\[[^\]]*\])*\.)+([a-zA-Z_]+(?:\[[^\]]*\])*\.)([a-zA-Z_]+)`)
	anyField    = regexp.MustCompile(`\b[a-zA-Z_]+\.[a-zA-Z_]+(?:\.[a-zA-Z_]+)*(?:\[[^\]]*\])?`)
	kindWord    = regexp.MustCompile(`^(\d+ \w+: )[A-Z]\w*(\.[\w.]+)? `)
	changedLine = regexp.MustCompile(`(?m)^[-+]\s*"(\w+)":`)
	objectName  = regexp.MustCompile(`explore-\d+s?`)
)

// class is the part of a finding's words that its cause determines. For lost fields, the path of the field is part of
// it. For rejections it is not: one rule is one cause, wherever it is broken.
func class(f *upgrades.Finding) string {
	words := classOf(f.Words)
	for _, check := range append([]string{f.Check}, f.Checks...) {
		if check == string(survey.Content) || check == string(survey.Keep) {
			return words
		}
	}
	return anyField.ReplaceAllString(words, "FIELD")
}

// classOf removes names, values and numbers of a single object from words.
func classOf(words string) string {
	words = changedNames(words)
	words = kindWord.ReplaceAllString(words, "$1")
	words = objectName.ReplaceAllString(words, "NAME")
	words = quotedText.ReplaceAllString(words, "_")
	words = structValue.ReplaceAllString(words, "Invalid value: _: ")
	words = dotted.ReplaceAllString(words, "$1$2")
	return number.ReplaceAllString(words, "")
}

// changedNames replaces the diff at the end of words by the names in its changed lines. The lines around them belong to
// a single object.
func changedNames(words string) string {
	words, diff, found := strings.Cut(words, "\n@@")
	if !found {
		return words
	}
	names := map[string]bool{}
	for _, line := range changedLine.FindAllStringSubmatch(diff, -1) {
		names[line[1]] = true
	}
	return words + " changed " + strings.Join(slices.Sorted(maps.Keys(names)), " ")
}

// conclude adds the findings and the kinds to the report.
func (e *exploration) conclude() {
	for _, name := range slices.Sorted(maps.Keys(e.kinds)) {
		e.report.Kinds = append(e.report.Kinds, e.kinds[name])
	}
	for _, g := range e.groups {
		f := g.report()
		if f.Proof == explorations.NotShown {
			e.report.Dropped = append(e.report.Dropped, f)
		} else {
			e.report.Findings = append(e.report.Findings, f)
		}
	}
	explorations.Sorted(e.report.Findings)
}

// shownFields is the maximum number of fields of a finding in the report.
const shownFields = 6

func (g *group) report() *explorations.Finding {
	f := &explorations.Finding{
		ID: g.id(), Sort: g.sort, Rule: g.rule, Checks: g.checks, Kinds: g.kinds,
		From: nameOf(g.from), Before: nameOf(g.before), To: nameOf(g.to),
		What: g.finding.What, Words: g.finding.Words, Back: g.finding.Back, Objects: len(g.entries),
		Scenario: g.scenario, Proof: g.proof,
	}
	if len(g.panics) > 0 {
		f.Words = strings.Join(g.panics, ", ") + ": " + f.Words
	}
	if g.forGood {
		f.Back += ", but not if the object was written meanwhile"
	}
	for _, one := range g.entries {
		field := one.Field
		if field == "" {
			field = string(one.Role) + " object"
		}
		if !slices.Contains(f.Fields, field) && len(f.Fields) < shownFields {
			f.Fields = append(f.Fields, field)
		}
	}
	f.Flips = g.finding.Flips[:min(len(g.finding.Flips), 4)]
	if g.gate != "" {
		f.Flips = strings.Split(g.gate, ",")
	}
	if g.smallest != nil {
		f.Object = yamlOf(g.smallest.named(g.number))
	}
	return f
}

// id is the same in all explorations that find it: it contains no numbers of objects, and patch releases only if the
// hop is from one to another. Otherwise, an upgrade and its rollback would have the same id.
func (g *group) id() string {
	parts := strings.SplitN(g.key, "|", 3)
	before, to := nameOf(g.before), nameOf(g.to)
	if before == to || minorOf(before) != minorOf(to) {
		before, to = minorOf(before), minorOf(to)
	}
	hop := before + "|" + to
	if len(g.panics) > 0 {
		hop = parts[0] + "|" + parts[1]
	}
	sum := sha256.Sum256([]byte(hop + "|" + parts[2] + g.gate))
	return strings.ReplaceAll(strings.ToLower(g.checks[0]), " ", "-") + "-" + hex.EncodeToString(sum[:4])
}

// minorOf is a state's name without the patch release.
func minorOf(state string) string {
	version, rest, _ := strings.Cut(state, " ")
	if v, err := clusters.ParseVersion(version); err == nil {
		version = v.MinorString()
	}
	return strings.TrimSpace(version + " " + rest)
}
