package growth

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// borderValues returns boundary values of the formats that Kubernetes uses.
func borderValues(f *fields.Field) []any {
	switch f.Type {
	case fields.String:
		return []any{
			"1-a", "a-1", "a.b", "a_b", "A", "a-", "-a", "a/b", "a b", "1", "", "*", "*.a.example.com", "a.example.com.",
			strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254),
			"010.0.0.5", "10.7.0.7", "192.168.0.5/24", "192.168.000.0/24", "::ffff:10.7.0.7", "FD00::A", "/a/../b", "a:b", "é",
			"1e3",
			"01", "0x10", "=a", "a=b",
		}
	case fields.Integer:
		return []any{
			int64(0), int64(-1), int64(1), int64(65535), int64(65536), int64(1<<31 - 1), int64(1 << 31), int64(1<<53 + 1),
			int64(1<<63 - 1),
		}
	case fields.Number:
		return []any{json.Number("0"), json.Number("-1.5"), json.Number("3.5e38"), json.Number("1e300"), json.Number("0.1")}
	case fields.Quantity:
		return []any{"0", "-1", "1m", "0.1", "1e3", "1Ei", "100000000000000000000", "1n"}
	case fields.Either:
		return []any{int64(0), int64(-1), int64(65536), "0%", "101%", "1-a", "a-1", strings.Repeat("a", 16), "a b"}
	case fields.Duration:
		return []any{"0s", "-1s", "1ns", "10000h", "1d"}
	case fields.Time:
		return []any{"2000-01-01T00:00:00Z", "2030-01-01T00:00:00+01:00"}
	case fields.Map:
		return []any{map[string]any{}}
	case fields.List:
		return []any{[]any{}}
	case fields.Object:
		return []any{map[string]any{}}
	case fields.Boolean:
		return []any{false}
	}
	return nil
}

// paths is the number of places in a kind at which the values of one field of a definition are explored.
const paths = 2

// trials tries values of the fields for which a grower has an object.
type trials struct{ *grower }

// explored are the wanted fields whose values are explored in this kind. An accepted object has each of them.
func (g trials) explored(wanted func(*fields.Field) bool) []*fields.Field {
	var all []*fields.Field
	taken := map[string]int{}
	for _, f := range g.scope.All() {
		path := f.Path.String()
		if !wanted(f) || g.holder[path] == nil || !g.home(f) || g.known[path] || taken[f.Owner] == paths {
			continue
		}
		taken[f.Owner]++
		all = append(all, f)
	}
	return all
}

// trial is one value of a field.
type trial struct {
	field  *fields.Field
	value  any
	object map[string]any
	place  fields.Place
	// accepted is the accepted object; nil if it was rejected, or if there was no verdict.
	accepted map[string]any
	rejected bool
	// unknown is why there was no verdict; nil if the search ended.
	unknown error
}

// of makes a trial of each value of the fields.
func (g trials) of(all []*fields.Field, valuesOf func(*fields.Field) []any) []*trial {
	var made []*trial
	for _, f := range all {
		held := g.holder[f.Path.String()]
		place := g.locate(held, f)
		current, _ := fields.Get(held, place)
		for _, value := range valuesOf(f) {
			object := copied(held)
			if !same(value, current) && fields.Set(object, place, copyOf(value)) {
				made = append(made, &trial{field: f, value: value, object: object, place: place})
			}
		}
	}
	return made
}

// each judges all trials at once.
func each(ctx context.Context, all []*trial, judge func(*trial)) error {
	var working errgroup.Group
	working.SetLimit(atOnce)
	for _, t := range all {
		working.Go(func() error {
			if ctx.Err() == nil {
				judge(t)
			}
			return nil
		})
	}
	_ = working.Wait() // the functions return no errors
	return context.Cause(ctx)
}

// atOnce is the number of trials of one kind that wait for an answer, or for a free slot of the client, at once.
const atOnce = 64

// choices are trials of all values of enumerations.
func (g trials) choices() []*trial {
	return g.of(g.explored(func(f *fields.Field) bool { return len(f.Enum) > 1 }), func(f *fields.Field) []any {
		var values []any
		for _, text := range f.Enum {
			if value, ok := coerce(f.Type, text); ok {
				values = append(values, value)
			}
		}
		return values
	})
}

// choose finds an accepted object for each choice.
func (g trials) choose(ctx context.Context, choices []*trial) error {
	return each(ctx, choices, func(t *trial) {
		accepted, a, err := g.accept(ctx, t.object, t.place, forChoice)
		if got, _ := fields.Get(accepted, t.place); err == nil && accepted != nil && same(got, t.value) {
			t.accepted = accepted
		} else if ctx.Err() == nil {
			t.unknown = cmp.Or(err, a.unknown)
		}
	})
}

// borders are trials of the boundary values of each field.
func (g trials) borders() []*trial {
	return g.of(g.explored(func(f *fields.Field) bool { return len(f.Enum) == 0 }), borderValues)
}

// test sends trials, and does not change rejected ones.
func (g trials) test(ctx context.Context, borders []*trial) error {
	return each(ctx, borders, func(t *trial) {
		answer, err := g.send(ctx, t.object)
		t.rejected = err == nil && !answer.Accepted()
		if answer.Accepted() {
			t.accepted = t.object
		} else if ctx.Err() == nil {
			t.unknown = err
		}
	})
}

// take keeps the accepted objects, and rejected boundary values, because another state may accept them.
func (g trials) take(choices, borders []*trial) {
	for _, t := range choices {
		if t.accepted != nil {
			g.made = append(g.made, g.specimen(Choice, t.field, t.value, t.accepted))
		}
	}
	for _, t := range borders {
		switch s := g.specimen(Border, t.field, t.value, t.object); {
		case t.accepted != nil:
			g.made = append(g.made, s)
		case t.rejected:
			g.failed = append(g.failed, s)
		}
	}
	g.unjudged = append(g.unjudged, unjudged(slices.Concat(choices, borders))...)
}

// unjudged says which fields have values without a verdict. Each field is there once.
func unjudged(all []*trial) []string {
	var words []string
	first, count := map[string]*trial{}, map[string]int{}
	for _, t := range all {
		if path := t.field.Path.String(); t.unknown != nil {
			if count[path]++; count[path] == 1 {
				first[path] = t
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(first)) {
		words = append(words, fmt.Sprintf("%s: no verdict on %d of its values, such as %.60s: %s", path, count[path],
			textOf(first[path].value), writes.Words(first[path].unknown)))
	}
	return words
}
