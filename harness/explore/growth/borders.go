package growth

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// borders are the values at the borders of the formats in which Kubernetes speaks.
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

// choices makes an object of each value that a field can choose from.
func (g *grower) choices(ctx context.Context) error {
	for _, f := range g.scope.All() {
		held := g.holder[f.Path.String()]
		if len(f.Enum) < 2 || held == nil || !g.home(f) || g.known[f.Path.String()] {
			continue
		}
		place := g.locate(held, f)
		current, _ := fields.Get(held, place)
		for _, text := range f.Enum {
			value, ok := coerce(f.Type, text)
			if !ok || same(value, current) {
				continue
			}
			object := copied(held)
			if !fields.Set(object, place, value) {
				continue
			}
			accepted, _, err := g.accept(ctx, object, place, forChoice)
			if err != nil {
				return err
			}
			if got, _ := fields.Get(accepted, place); accepted != nil && same(got, value) {
				g.made = append(g.made, g.specimen(Choice, f, value, accepted))
			}
		}
	}
	return nil
}

// borders tries the values at the borders of each field. Those that are refused are kept, too: another state may accept
// them.
func (g *grower) borders(ctx context.Context) error {
	for _, f := range g.scope.All() {
		held := g.holder[f.Path.String()]
		if held == nil || !g.home(f) || g.known[f.Path.String()] || len(f.Enum) > 0 {
			continue
		}
		place := g.locate(held, f)
		for _, value := range borderValues(f) {
			object := copied(held)
			if !fields.Set(object, place, copyOf(value)) {
				continue
			}
			answer, err := g.send(ctx, object)
			if ctx.Err() != nil {
				return err
			}
			if answer.panicked() {
				g.panics = append(g.panics, textOf(object))
			}
			s := g.specimen(Border, f, value, object)
			if err == nil && answer.Accepted() {
				g.made = append(g.made, s)
			} else if err == nil {
				g.failed = append(g.failed, s)
			}
		}
	}
	return nil
}
