package growth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// attempt is the search for an accepted object with a given field.
type attempt struct {
	*grower
	// target is the place that the accepted object must have; nil if there is none.
	target fields.Place
	// budget is the number of dry runs that are left.
	budget int
	// seen are the objects that were sent.
	seen map[string]bool
	// words of the first rejection.
	words string
	// lost says that the API server accepted an object, but dropped the target.
	lost bool
	// unknown is why there was no verdict on one of the objects; nil if there were verdicts on all. judged says that
	// there was a verdict on one.
	unknown error
	judged  bool
}

// undecided is why nothing is known, neither a rejection nor another verdict; nil if something is. An API server also
// answers some invalid values with 500, such as a RuntimeClass named "50%": then the verdicts on others count.
func (a *attempt) undecided() error {
	if a.judged {
		return nil
	}
	return a.unknown
}

// state is an object with the causes of its rejection.
type state struct {
	object map[string]any
	causes []Cause
}

// accept changes an object until it is accepted. The result is nil if it never is.
func (g *grower) accept(ctx context.Context, object map[string]any, target fields.Place, budget int) (map[string]any,
	*attempt, error,
) {
	a := &attempt{grower: g, target: target, budget: budget, seen: map[string]bool{}}
	accepted, s, err := a.try(ctx, object)
	if accepted || err != nil {
		return object, a, err
	}
	if s == nil {
		return nil, a, nil
	}
	found, err := a.search(ctx, s, 1)
	return found, a, err
}

// deepest is the maximum number of successive changes.
const deepest = 8

// search changes a rejected object until it is accepted. If a change makes it better, the search continues from there.
// The result is nil if no object is accepted.
func (a *attempt) search(ctx context.Context, s *state, depth int) (map[string]any, error) {
	for corrected := range a.corrections(s) {
		accepted, next, err := a.try(ctx, corrected)
		if accepted || err != nil {
			return corrected, err
		}
		if a.budget <= 0 {
			return nil, nil
		}
		if next == nil || depth == deepest || !better(s, next) {
			continue
		}
		if found, err := a.search(ctx, next, depth+1); found != nil || err != nil {
			return found, err
		}
		if a.budget <= 0 {
			return nil, nil
		}
	}
	return nil, nil
}

// better reports whether the first cause of a rejection is gone in the next rejection.
func better(before, after *state) bool {
	first := before.causes[0]
	for _, cause := range after.causes {
		if cause.Field == first.Field && (cause.Type == first.Type || cause.Message == first.Message) {
			return false
		}
	}
	return len(after.causes) <= len(before.causes)+2
}

// try sends an object, unless it was sent before.
func (a *attempt) try(ctx context.Context, object map[string]any) (accepted bool, _ *state, _ error) {
	text := textOf(object)
	if a.seen[text] {
		return false, nil, nil
	}
	a.seen[text] = true
	a.budget--
	answer, err := a.sendText(ctx, object, []byte(text))
	if err != nil {
		if ctx.Err() != nil {
			return false, nil, err
		}
		a.unknown = err
		a.note(err.Error())
		if a.target == nil || answer.Code != http.StatusInternalServerError {
			return false, nil, nil
		}
		return false, a.blamed(object, answer.Words), nil // the API server may fail because of this value only
	}
	a.judged = true
	if answer.Accepted() {
		if a.target == nil {
			return true, nil, nil
		}
		made, err := answer.Object()
		if err != nil {
			return false, nil, err
		}
		if _, kept := fields.Get(made, a.target); kept {
			prune(object, made)
			return true, nil, nil
		}
		a.lost = true
		a.note(dropped)
		return false, a.blamed(object, "dropped"), nil
	}
	a.note(answer.Words)
	causes := answer.Causes
	if len(causes) == 0 || causes[0].Field == "" {
		return false, a.blamed(object, answer.Words), nil
	}
	return false, &state{object, causes}, nil
}

// blamed is the state of an object that is rejected, in these words, because of the target.
func (a *attempt) blamed(object map[string]any, words string) *state {
	return &state{object, []Cause{{
		Type: metav1.CauseTypeFieldValueInvalid, Field: a.target.String(), Message: words,
	}}}
}

func (a *attempt) note(words string) {
	if a.words == "" {
		a.words = words
	}
}

// dropped is the note about a field that the API server accepts, but does not keep.
const dropped = "accepted, but dropped"

// corrections are changed copies of a rejected object, the most promising first.
func (a *attempt) corrections(s *state) func(func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		if len(s.causes) > 1 {
			all := copied(s.object)
			for _, cause := range s.causes {
				for change := range a.changes(all, cause) {
					if change(all) {
						break
					}
				}
			}
			if !yield(all) {
				return
			}
		}
		for change := range a.changes(s.object, s.causes[0]) {
			corrected := copied(s.object)
			if change(corrected) && !yield(corrected) {
				return
			}
		}
	}
}

// patience is the number of other values of a field that are tried before other fields are changed.
const patience = 6

type change func(map[string]any) bool

// changes are changes of an object that may remove one cause of its rejection.
func (a *attempt) changes(object map[string]any, cause Cause) func(func(change) bool) {
	place := a.placeOf(cause.Field)
	f := a.kind.Root.At(place)
	if cause.Field == "metadata.name" {
		place, f = fields.Place{"metadata", "name"}, &fields.Field{Path: fields.Path{"metadata", "name"}, Type: fields.String}
	}
	value, there := fields.Get(object, place)
	said, switches, without := a.nearby(object, place, cause)
	own := len(a.target) == 0 || !place.Within(a.target) && !a.target.Within(place)
	return func(yield func(change) bool) {
		for _, c := range slices.Concat(a.referred(place, value, cause), a.together(place, cause),
			a.besides(object, place)) {
			if !yield(c) {
				return
			}
		}
		switch {
		case f == nil:
		case cause.Type == metav1.CauseTypeFieldValueRequired && !there:
			if !yield(a.put(place, f)) {
				return
			}
		case cause.Type == metav1.CauseType("FieldValueForbidden") && own && there:
			if !yield(removal(place)) {
				return
			}
		case f.Scalar():
			for i, candidate := range a.fitting(a.candidates(f, cause.Message)) {
				if i == patience {
					for _, c := range slices.Concat(said, switches) {
						if !yield(c) {
							return
						}
					}
				}
				if there && same(candidate, value) {
					continue
				}
				if !yield(func(object map[string]any) bool { return a.set(object, place, copyOf(candidate)) }) {
					return
				}
			}
		case !f.Scalar():
			for _, c := range a.inside(object, place, f, cause) {
				if !yield(c) {
					return
				}
			}
		}
		for _, c := range slices.Concat(said, without, switches) {
			if !yield(c) {
				return
			}
		}
	}
}

// fitting puts values first that are the name of the target: the discriminator of a union.
func (a *attempt) fitting(all []any) []any {
	fits := func(value any) int {
		if text, ok := value.(string); ok && a.named(text) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(x, y any) int { return fits(x) - fits(y) })
	return all
}

// referred adds the item that a name refers to, if it was not found: an item of that name in a list next to or above
// it.
func (a *attempt) referred(place fields.Place, value any, cause Cause) []change {
	name, ok := value.(string)
	if !ok || cause.Type != metav1.CauseTypeFieldValueNotFound {
		return nil
	}
	var all []change
	for up := 1; up <= len(place); up++ {
		level := place[:len(place)-up]
		f := a.kind.Root.At(level)
		if f == nil || f.Type != fields.Object {
			continue
		}
		for _, child := range f.Children {
			item := child.Child(fields.Item)
			at := append(slices.Clone(level), child.Name())
			if item == nil || item.Child("name") == nil || place.Within(at) {
				continue
			}
			all = append(all, func(object map[string]any) bool {
				made, isObject := a.build(item).(map[string]any)
				if !isObject {
					return false
				}
				made["name"] = name
				items, _ := fields.Get(object, at)
				list, _ := items.([]any)
				return a.set(object, at, append(slices.Clone(list), made))
			})
		}
	}
	slices.Reverse(all) // volumes come late in the order of names
	return all
}

// placeOf is the place of the field that a rejection names. It joins map keys with dots, inserts missing list indices,
// and corrects names of the API server's internal version.
func (a *attempt) placeOf(text string) fields.Place {
	place := fields.ParsePlace(meant(a.kind, text))
	at := a.kind.Root
	for i := 0; i < len(place); i++ {
		if at == nil {
			return place
		}
		if at.Type == fields.Map && a.kind.Root.At(place) == nil {
			var key []string
			for _, step := range place[i:] {
				name, _ := step.(string)
				key = append(key, name)
			}
			return append(slices.Clone(place[:i]), strings.Join(key, "."))
		}
		name, isName := place[i].(string)
		if isName && at.Type == fields.List {
			place = slices.Insert(place, i, any(0))
		} else if isName && at.Type == fields.Object && at.Child(name) == nil {
			for _, child := range at.Children { // some rejections write a field with a capital letter
				if strings.EqualFold(child.Name(), name) {
					place[i] = child.Name()
				}
			}
		}
		at = at.At(place[i : i+1])
	}
	return place
}

// put sets a field, with its parents.
func (a *attempt) put(place fields.Place, f *fields.Field) change {
	return func(object map[string]any) bool { return a.set(object, place, a.build(f)) }
}

func setting(place fields.Place, value any) change {
	return func(object map[string]any) bool { return fields.Set(object, place, copyOf(value)) }
}

func removal(place fields.Place) change {
	return func(object map[string]any) bool { return fields.Remove(object, place) }
}

// inside are changes within an object or a list: one more member (first those that the message mentions), or one
// less.
func (a *attempt) inside(object map[string]any, place fields.Place, f *fields.Field, cause Cause) []change {
	var likely, others, less []change
	words := mentioned(cause.Message)
	for _, child := range f.Children {
		if f.Type != fields.Object {
			break
		}
		at := append(slices.Clone(place), child.Name())
		_, there := fields.Get(object, at)
		kept := a.target.Within(at)
		switch {
		case there && !child.Required && !kept:
			less = append(less, removal(at))
		case !there && words[child.Name()]:
			likely = append(likely, a.put(at, child))
		case !there && len(others) < 12:
			others = append(others, a.put(at, child))
		}
	}
	if f.Type != fields.Object {
		if value, there := fields.Get(object, place); there {
			if items, ok := value.([]any); ok && len(items) == 0 || !ok {
				likely = append(likely, a.put(place, f))
			}
			if items, ok := value.([]any); ok && len(items) > 0 {
				likely = append(likely, a.otherItems(place, f, items, cause)...)
			}
			if !a.target.Within(place) {
				less = append(less, removal(place))
			}
		} else {
			likely = append(likely, a.put(place, f))
		}
	}
	if cause.Type == metav1.CauseTypeFieldValueRequired {
		return slices.Concat(likely, others, less)
	}
	return slices.Concat(likely, less, others)
}

// otherItems are other values of the first item of a list of scalars.
func (a *attempt) otherItems(place fields.Place, f *fields.Field, items []any, cause Cause) []change {
	item := f.Child(fields.Item)
	if item == nil || !item.Scalar() {
		return nil
	}
	var all []change
	for _, candidate := range a.candidates(item, cause.Message) {
		if !same(candidate, items[0]) && len(all) < 12 {
			all = append(all, setting(append(slices.Clone(place), 0), candidate))
		}
	}
	return all
}
