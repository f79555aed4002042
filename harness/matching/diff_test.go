package matching_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Each testdata/NAME.yaml has the wanted value and, after "---", the actual one. NAME.diff is their diff.
func TestDiff(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			input := golden.Read(t, file)
			want, got, ok := strings.Cut(input, "\n---\n")
			if !ok {
				t.Fatal("want two documents")
			}
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".diff", matching.Diff(parse(t, want), parse(t, got)))
		})
	}
}

func TestDiffIsCut(t *testing.T) {
	want, got := map[string]any{"config": "x"}, map[string]any{"config": strings.Repeat("a line\n",
		1000) + strings.Repeat("long", 1000)}
	for i := range 50 {
		want[fmt.Sprintf("field%02d", i)] = i
	}
	diff := matching.Diff(want, got)
	if n := strings.Count(diff, "\n"); n > 30 || !strings.Contains(diff, "and 31 more differences") {
		t.Errorf("a diff of %d lines:\n%s", n, diff)
	}
	for line := range strings.Lines(diff) {
		if len(line) > 300 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// values generates JSON values.
func values() *rapid.Generator[any] {
	scalars := rapid.OneOf(
		rapid.Just(any(nil)), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(),
		rapid.SampledFrom([]string{
			"", "a", "80", "*_x_*", "a\nb", "a\nb\n", " ", "\t", "<nil>", "null", "- x", "{",
			"\x1b[1m", "ü",
		}).AsAny(),
	)
	keys := rapid.SampledFrom([]string{"name", "type", "port", "protocol", "a", "b.c", "", "*x*"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return scalars
		}
		return rapid.OneOf(
			scalars,
			rapid.MapOfN(keys, value(depth-1), 0, 3).AsAny(),
			rapid.SliceOfN(value(depth-1), 0, 3).AsAny(),
		)
	}
	return value(3)
}

func TestDiffNeverPanicsAndAgreesWithMatch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want, got := values().Draw(rt, "want"), values().Draw(rt, "got")
		first, second := matching.Match(want, got), matching.Match(want, got)
		if lines(first) != lines(second) {
			rt.Fatalf("two results:\n%s\n%s", lines(first), lines(second))
		}
		if diff := matching.Diff(want, got); (diff == "") != (len(first) == 0) {
			rt.Fatalf("%d mismatches, but the diff is %q", len(first), diff)
		}
	})
}

// A missing element has a line in the diff, even if each of its wanted fields may be absent.
func TestDiffOfAnElementThatWantsNothing(t *testing.T) {
	want, got := []any{map[string]any{"name": nil}}, []any{}
	if diff := matching.Diff(want, got); len(matching.Match(want, got)) != 1 || strings.Count(diff, "\n") != 1 {
		t.Errorf("%d mismatches, the diff is %q", len(matching.Match(want, got)), diff)
	}
}

func TestWhatIsThereMatchesItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := values().Draw(rt, "value")
		if mismatches := matching.Match(value, value); len(mismatches) > 0 {
			rt.Fatal(lines(mismatches))
		}
	})
}
