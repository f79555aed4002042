package upgrade

import (
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// mostEarly is the maximum number of a state's findings that are printed early. The report has all of them.
const mostEarly = 10

// tellEarly prints the new findings of a state right after its survey, so that users need not wait for the end of the
// path.
func (r *rehearsal) tellEarly(state int) {
	so := &upgrades.Report{Path: r.report.Path[:state+1]}
	r.survey.Judge(so)
	r.hidden.hide(so)
	named := 0
	for _, f := range so.Findings {
		if f.State != state || f.Severity == upgrades.Before {
			continue
		}
		if named++; named <= mostEarly {
			r.Progress("%s", f.Line())
		}
	}
	if named > mostEarly {
		r.Progress("and %d more findings at %s", named-mostEarly, r.report.Path[state].Name)
	}
}
