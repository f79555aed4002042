package matrices

import (
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
)

// Only verdicts that differ make a cell unstable. A run without a verdict makes it undecided, unless it failed.
func TestRepeatedCell(t *testing.T) {
	const passed, failed, broken, skipped = reports.Passed, reports.Failed, reports.Error, reports.Skipped
	for _, test := range []struct {
		statuses []reports.Status
		want     reports.Status
	}{
		{[]reports.Status{passed, passed}, passed},
		{[]reports.Status{passed, failed}, Unstable},
		{[]reports.Status{passed, reports.Known}, Unstable},
		{[]reports.Status{passed, broken, passed}, broken},
		{[]reports.Status{skipped, passed}, skipped},
		{[]reports.Status{broken, failed}, failed},
		{[]reports.Status{broken, skipped}, broken},
		{[]reports.Status{passed, broken, failed}, Unstable},
	} {
		var list []*Report
		for _, status := range test.statuses {
			list = append(list, &Report{Cells: []*Cell{{Status: status}}})
		}
		if got := repeatedCell(list, 0); got.Status != test.want {
			t.Errorf("%v: got %s, want %s", test.statuses, got.Status, test.want)
		}
	}
}
