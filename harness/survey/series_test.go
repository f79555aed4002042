package survey

import "testing"

// Only the failed checks of the given object itself count.
func TestBroken(t *testing.T) {
	root := given("a")
	s := &Survey{answers: answers{series: map[key]*Series{}}}
	s.note(root, Create, Outcome{Answer: Bad, Words: "no"})
	s.note(root, Apply, Outcome{Answer: Good})
	s.note(pod("x", root, false), Delete, Outcome{Answer: Bad, Words: "no"})
	for check, want := range map[Check]bool{Create: true, Apply: false, Delete: false, Keep: false} {
		if got := s.Broken(root.Given, check); got != want {
			t.Errorf("%s: got %t", check, got)
		}
	}
	if !s.Broken(root.Given, Apply, Create) {
		t.Error("one of several checks fails")
	}
	if s.state++; s.Broken(root.Given, Create) {
		t.Error("the check of an earlier state counts")
	}
}
