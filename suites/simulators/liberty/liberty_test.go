package liberty

import (
	"slices"
	"strings"
	"testing"
)

func set(t *testing.T, asked ...string) Set {
	t.Helper()
	s, err := NewSet(asked, slices.Concat(OfControllers(), OfRecorders(), OfManagers(), OfWebhooks(nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewSet(t *testing.T) {
	known := []Liberty{{Name: "a"}, {Name: "b"}}
	for text, want := range map[string]string{
		"a,b=7": "",
		"":      "",
		"c":     `unknown liberty "c"; known: a, b`,
		"a=x":   `liberty a: its seed "x" is not a number`,
	} {
		asked := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
		s, err := NewSet(asked, known)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
		if err == nil && len(s.Names()) != len(asked) {
			t.Errorf("%q: got %q", text, s.Names())
		}
	}
	if s := (Set{}); s.Has("a") || len(s.Names()) > 0 || s.happens("a", "x", 1) {
		t.Error("a set without liberties has one")
	}
}

func TestTogether(t *testing.T) {
	list := []Liberty{{Name: "a"}, {Name: "b", Unlike: []string{"a"}}, {Name: "c", Unlike: []string{"b"}}, {Name: "d"}}
	if got := strings.Join(Names(Together(list)), " "); got != "a c d" {
		t.Errorf("got %s", got)
	}
}

func TestConcerns(t *testing.T) {
	if !(Liberty{}).Concerns("A") || !(Liberty{About: []string{"A"}}).Concerns("A") ||
		(Liberty{About: []string{"A"}}).Concerns("B") {
		t.Error("a liberty concerns what it is about, and everything where it is about nothing")
	}
}

// The same seed makes the same choices, for each object independently; another seed makes others.
func TestSeeds(t *testing.T) {
	rolls := func(seed string, names ...string) (all []float64) {
		s := set(t, Late+"="+seed)
		for range 20 {
			for _, name := range names {
				if n := s.roll(Late, name); name == "web" {
					all = append(all, n)
				}
			}
		}
		return all
	}
	first := rolls("1", "web")
	if got := rolls("1", "other", "web", "third"); !slices.Equal(got, first) {
		t.Error("what else there is changes what happens to an object")
	}
	if slices.Equal(rolls("2", "web"), first) || slices.Max(first)-slices.Min(first) < 0.3 {
		t.Errorf("not very random: %v", first)
	}
	if got := Seeded([]string{"a", "b=2"}, func() uint64 { return 9 }); !slices.Equal(got, []string{"a=9", "b=2"}) {
		t.Errorf("got %q", got)
	}
}
