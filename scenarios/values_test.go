package scenarios

import "testing"

func TestCountHolds(t *testing.T) {
	one, two := 1, 2
	for _, test := range []struct {
		count    Count
		n, total int
		want     bool
	}{
		{Count{All: true}, 2, 2, true},
		{Count{All: true}, 1, 2, false},
		{Count{All: true}, 0, 0, false},
		{Count{Min: &one}, 0, 5, false},
		{Count{Min: &one}, 5, 5, true},
		{Count{Max: &one}, 2, 5, false},
		{Count{Min: &one, Max: &two}, 2, 5, true},
	} {
		if got := test.count.Holds(test.n, test.total); got != test.want {
			t.Errorf("%+v of %d/%d: %v", test.count, test.n, test.total, got)
		}
	}
}

func TestScalars(t *testing.T) {
	for text, good := range map[string]bool{
		"0": true, "12": true, "all": true, "-1": false, "01": false, "1.0": false,
		" 1": false, "": false, "ALL": false,
	} {
		if err := new(Count).UnmarshalScalar(text); (err == nil) != good {
			t.Errorf("count %q: %v", text, err)
		}
	}
	for text, good := range map[string]bool{
		"500ms": true, "1m30s": true, "5": false, "0s": false, "-1s": false,
		"soon": false,
	} {
		if err := new(Duration).UnmarshalScalar(text); (err == nil) != good {
			t.Errorf("duration %q: %v", text, err)
		}
	}
}
