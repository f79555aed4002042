package explore

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
)

// choose chooses the objects of the corpus that cross the path: those that a state accepts, but not more than Objects.
// Objects on which the states may disagree come first, and the first object of each shape before others of the same
// shape.
func (e *exploration) choose() []*entry {
	free, unknown := freeIn(e.corpus), unknownIn(e.corpus)
	var able []*entry
	left := map[string]int{}
	for _, one := range e.corpus {
		switch {
		case !one.accepted():
		case !growth.Harmless(one.Kind, one.Object()):
			left["would affect other objects"]++
		case !one.kept(unknown):
			left["lose a field in each state that accepts them"]++
		case one.Role == growth.Border && free[one.Owner] && !one.open():
			left["only have another value of a field that accepts any value"]++
		default:
			able = append(able, one)
		}
	}
	able = e.inOrder(able)
	if e.Objects > 0 && len(able) > e.Objects {
		e.report.Untried = append(e.report.Untried, fmt.Sprintf("%d of %d objects did not cross (--objects %d)",
			len(able)-e.Objects, len(able), e.Objects))
		able = able[:e.Objects]
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		e.report.Notes = append(e.report.Notes, fmt.Sprintf("%d objects did not cross, because they %s", left[why], why))
	}
	if len(e.Path) < 3 {
		return able
	}
	return append(able, twins(able)...)
}

// inOrder sorts objects: first the first one of each shape, by weight, then the others. The seed chooses among
// objects of equal weight.
func (e Options) inOrder(all []*entry) []*entry {
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(e.lot(a), e.lot(b)), cmp.Compare(a.ID(), b.ID()))
	})
	var first, others []*entry
	taken := map[string]bool{}
	for _, one := range all {
		if shape := one.shape(); taken[shape] {
			others = append(others, one)
		} else {
			taken[shape] = true
			first = append(first, one)
		}
	}
	return append(first, others...)
}

// shape is equal for objects that probably show the same. If the states may disagree on them, they have the same kind
// and verdicts. Otherwise they have the same role, and were generated for the same field of the same type. Fields of
// Pods and of Pod templates differ, because only a Pod is updated with the rules for Pods.
func (o *entry) shape() string {
	if o.Owner == "" {
		return o.ID()
	}
	if o.open() {
		return o.Kind.ID() + " " + o.opinions()
	}
	parts := []string{string(o.Role), o.Owner, strconv.FormatBool(podTemplate.MatchString(o.Field))}
	if o.Role == growth.Choice {
		parts = append(parts, o.Value)
	}
	return strings.Join(parts, " ")
}

// opinions are the verdicts of the states, without indexes of lists. If a state rejects the object for an unknown
// reason, or does not judge it, the field for which it was generated is part of it.
func (o *entry) opinions() string {
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(o.verdicts)) {
		v := o.verdicts[state]
		if !v.accepted && v.why == "" {
			parts = append(parts, o.Owner)
		}
		v.lost = item.ReplaceAllString(v.lost, "[]")
		parts = append(parts, fmt.Sprint(state, v))
	}
	for _, state := range o.unjudged {
		parts = append(parts, state, o.Owner)
	}
	return strings.Join(parts, " ")
}

// twinsOf limits the twins to one for each twinsOf objects that cross.
const twinsOf = 4

// twins are copies of chosen objects. They cross with them if the path has more than two states, and each state
// writes them as it reads them. If only the twin fails, the cause is such a write. Objects on which the states
// may disagree come first.
func twins(chosen []*entry) []*entry {
	var all []*entry
	for _, one := range chosen {
		if one.open() || one.Role == growth.Minimal || one.Role == growth.Whole {
			twin := *one
			twin.written = true
			all = append(all, &twin)
		}
	}
	return all[:min(len(all), (len(chosen)+twinsOf-1)/twinsOf)]
}

func (o *entry) accepted() bool {
	for _, v := range o.verdicts {
		if v.accepted {
			return true
		}
	}
	return false
}

// kept reports whether a state accepts the object and drops none of its fields. If every state drops a field, nothing
// validates its value, so the object shows nothing. An answer does not show whether the API server dropped a zero
// value, so other objects with the field decide: unknown are the fields that states drop.
func (o *entry) kept(unknown map[string]bool) bool {
	for state, v := range o.verdicts {
		if v.accepted && v.lost == "" && !(unknown[state+" "+o.Owner] && o.zero()) {
			return true
		}
	}
	return false
}

// zero reports whether the object has only zero values of the field for which it was generated.
func (o *entry) zero() bool { return len(o.set()) == 0 }

// set are the places with the values of the field for which the object was generated, except zero values.
func (o *entry) set() []string {
	object := o.Object()
	var all []string
	own := places(object, o.Field)
	for _, leaf := range growth.Places(object) {
		value, _ := fields.Get(object, leaf)
		if !fields.Zero(value) && slices.ContainsFunc(own, leaf.Within) {
			all = append(all, leaf.String())
		}
	}
	return all
}

// unknownIn are the fields of a corpus that a state drops, as its name and the field's owner.
func unknownIn(corpus []*entry) map[string]bool {
	all := map[string]bool{}
	for _, one := range corpus {
		for state, v := range one.verdicts {
			if v.lost == "" || all[state+" "+one.Owner] {
				continue
			}
			lost, set := strings.Fields(v.lost), one.set()
			if len(set) > 0 && !slices.ContainsFunc(set, func(place string) bool { return !slices.Contains(lost, place) }) {
				all[state+" "+one.Owner] = true
			}
		}
	}
	return all
}

// born is the name of the state in which the object is created: the first one that accepts it and drops none of its
// fields. If there is none, it is the first one that accepts it; "" if no state does.
func (o *entry) born(path []clusters.State) string {
	first := ""
	for _, state := range path {
		switch v := o.verdicts[nameOf(state)]; {
		case v.accepted && v.lost == "":
			return nameOf(state)
		case v.accepted && first == "":
			first = nameOf(state)
		}
	}
	return first
}

// disputed reports whether the states have different verdicts on the object.
func (o *entry) disputed() bool {
	var first *verdict
	for _, v := range o.verdicts {
		if first == nil {
			first = &v
		} else if !v.same(*first) {
			return true
		}
	}
	return false
}

// open reports whether the states may disagree on the object: they do, or a state has no verdict on it.
func (o *entry) open() bool { return len(o.unjudged) > 0 || o.disputed() }

// weight orders objects: the lowest comes first.
func (o *entry) weight() int {
	if o.open() {
		return 0
	}
	return 1 + slices.Index([]growth.Role{growth.Minimal, growth.Whole, growth.Alone, growth.Choice, growth.Border},
		o.Role)
}

// lot orders objects of equal weight, by the seed.
func (e Options) lot(o *entry) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", e.Seed, o.ID())
	return h.Sum64()
}

// freeIn are the fields of a corpus that accept every tried value, so that further values show nothing.
func freeIn(corpus []*entry) map[string]bool {
	tried, rejected := map[string]bool{}, map[string]bool{}
	for _, one := range corpus {
		if one.Role != growth.Border {
			continue
		}
		tried[one.Owner] = true
		if !one.accepted() {
			rejected[one.Owner] = true
		}
	}
	free := map[string]bool{}
	for owner := range tried {
		free[owner] = !rejected[owner]
	}
	return free
}
