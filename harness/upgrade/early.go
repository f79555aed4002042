package upgrade

import (
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// mostEarly is how many findings of a state are named while the rehearsal goes on; the report has all.
const mostEarly = 10

// tellEarly names what the survey of a state has just shown, so that a person need not wait for the end of the path.
// What earlier states showed already is not named again.
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
