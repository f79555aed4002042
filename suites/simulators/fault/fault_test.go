package fault_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

var known = []fault.Fault{{Name: "loud"}, {Name: "late"}, {Name: "unregistered", ClusterWide: true}}

func TestSet(t *testing.T) {
	s, err := fault.NewSet([]string{"loud", "late@f1-*", "unregistered"}, known)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fault, namespace string
		want             bool
	}{
		{"loud", "", true},
		{"loud", "f1-a", true},
		{"loud", "other", true},
		{"unregistered", "other", true},
		{"late", "", false},
		{"late", "f1-a", true},
		{"late", "f1-b", true},
		{"late", "f12-a", false},
		{"late", "other", false},
	} {
		there := s
		if test.namespace != "" {
			there = s.In(test.namespace)
		}
		if got := there.Has(test.fault); got != test.want {
			t.Errorf("%s in %q: %v", test.fault, test.namespace, got)
		}
	}
	if s.Empty() || !(fault.Set{}).Empty() || (fault.Set{}).Has("loud") || (fault.Set{}).In("a").Has("loud") {
		t.Errorf("an empty set has no fault, and only that: %+v", s)
	}
}

func TestSetRejects(t *testing.T) {
	for asked, want := range map[string]string{
		"quiet":            `unknown fault "quiet"; known: loud, late, unregistered`,
		"quiet@f1-*":       `unknown fault "quiet"`,
		"unregistered@f1*": "cannot be limited to namespaces f1*",
	} {
		if _, err := fault.NewSet([]string{asked}, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", asked, err)
		}
	}
}
