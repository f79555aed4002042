package harness

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/load"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// objectName names an object of a kind.
type objectName struct{ namespace, name string }

// acknowledged is an object as the API server returned it to an accepted write.
type acknowledged struct {
	uid     types.UID
	version string
}

// older says that a resourceVersion is known to be older than another.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// returned is what there is of what a load wrote.
type returned struct {
	// later: nobody can read it yet. none: nothing was acknowledged.
	later, none bool
	objects     int
	// lost are the acknowledged writes that are not there, each in a sentence.
	lost []string
	// deleted is how many of the objects somebody deleted since.
	deleted int
}

// readBack reads what the load wrote, by a consistent list, and compares it with what the API server acknowledged.
func (a *scenarioLoads) readBack(ctx context.Context, l *stepLoad) (returned, error) {
	back := returned{none: len(l.kept) == 0, objects: len(l.kept)}
	if back.none {
		return back, nil
	}
	if a.run.down != "" {
		a.owed, back.later = append(a.owed, l), true
		return back, nil
	}
	there := map[objectName]acknowledged{}
	for _, namespace := range l.namespaces() {
		if err := a.listed(ctx, l, namespace, there); err != nil {
			return back, err
		}
	}
	var gone []objectName
	for _, at := range slices.SortedFunc(maps.Keys(l.kept), func(a, b objectName) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		now, found := there[at]
		switch wrote := l.kept[at]; {
		case !found || now.uid != wrote.uid:
			gone = append(gone, at)
		case older(now.version, wrote.version):
			back.lost = append(back.lost, fmt.Sprintf("%s has resourceVersion %s, but a write was acknowledged with %s", at.name,
				now.version, wrote.version))
		}
	}
	if len(gone) == 0 {
		return back, nil
	}
	deletions, err := a.deletions(ctx, l)
	if err != nil {
		return back, err
	}
	for _, at := range gone {
		if deletions[l.kept[at].uid] {
			back.deleted++
		} else {
			back.lost = append(back.lost, at.name+" is not there, and the watch did not tell that somebody deleted it")
		}
	}
	return back, nil
}

// String is what there is to say behind the summary of a load.
func (r returned) String() string {
	text := ""
	switch {
	case r.none:
	case r.later:
		text = fmt.Sprintf("; %d written objects are read back after the next restart or transition", r.objects)
	default:
		text = fmt.Sprintf("; %d written objects read back, acknowledged writes lost: %d", r.objects, len(r.lost))
	}
	if r.deleted > 0 {
		text += fmt.Sprintf(", deleted by somebody: %d", r.deleted)
	}
	return text
}

// mostLost is how many lost writes are named.
const mostLost = 5

func (r returned) problems() []string {
	var problems []string
	for i, one := range r.lost {
		if i == mostLost {
			problems = append(problems, fmt.Sprintf("and %d more", len(r.lost)-i))
			break
		}
		problems = append(problems, "an acknowledged write is lost: "+one)
	}
	return problems
}

// checkOwed reads back what was acknowledged before a component was killed without which nobody could read it.
func (a *scenarioLoads) checkOwed(ctx context.Context, step scenarios.Step, r result) result {
	ctx, cancel := context.WithTimeout(ctx, a.run.timeout(step, a.run.shared.StepTimeout))
	defer cancel()
	owed := a.owed
	a.owed = nil
	for _, l := range owed {
		back, err := a.readBack(ctx, l)
		said := fmt.Sprintf("load %q of an earlier step%s", l.Name, back)
		r.Evidence = strings.TrimPrefix(r.Evidence+"\n"+said, "\n")
		switch {
		case err != nil:
			r.Status, r.Message = worse(r.Status, reports.Error), strings.TrimPrefix(r.Message+"\n"+err.Error(), "\n")
		case len(back.lost) > 0:
			r.Status = reports.Failed
			r.Message = strings.TrimPrefix(r.Message+"\n"+said+"\n  "+strings.Join(back.problems(), "\n  "), "\n")
		}
	}
	return r
}

// worse is the status of what failed, or else of what could not be judged.
func worse(a, b reports.Status) reports.Status {
	if a == reports.Passed {
		return b
	}
	return a
}

// namespaces are those of what the load wrote; "" alone for a kind without namespaces.
func (l *stepLoad) namespaces() []string {
	all := map[string]bool{}
	for at := range l.kept {
		all[at.namespace] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// listed reads what is stored, page by page, again and again until it is answered or the context ends.
func (a *scenarioLoads) listed(ctx context.Context, l *stepLoad, namespace string,
	there map[objectName]acknowledged,
) error {
	api := dynamic.ResourceInterface(a.run.client.Resource(l.kind.Resource))
	if namespace != "" {
		api = a.run.client.Resource(l.kind.Resource).Namespace(namespace)
	}
	r := repeat(ctx, func(string) {}, func() try {
		options := metav1.ListOptions{Limit: 500}
		for {
			page, err := api.List(ctx, options)
			if err != nil {
				return try{undecided: true, problem: err.Error()}
			}
			for i := range page.Items {
				o := &page.Items[i]
				there[objectName{o.GetNamespace(), o.GetName()}] = acknowledged{o.GetUID(), o.GetResourceVersion()}
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				return try{}
			}
		}
	})
	if r.Status != reports.Passed {
		return fmt.Errorf("what load %q wrote could not be read back: %s", l.Name, r.Message)
	}
	return nil
}

// deletions are the objects of the load's kind that somebody deleted, as the watch saw.
func (a *scenarioLoads) deletions(ctx context.Context, l *stepLoad) (map[types.UID]bool, error) {
	all := map[types.UID]bool{}
	if l.stream == nil {
		return all, nil
	}
	for _, namespace := range l.namespaces() {
		if err := l.stream.CatchUp(ctx, history.Scope{Namespace: namespace}); err != nil {
			return nil, fmt.Errorf("who deleted what load %q wrote could not be seen: %w", l.Name, err)
		}
	}
	for change := range l.stream.Replay(a.run.timeline.from, a.run.shared.history.Seq(), history.Scope{}) {
		if change.Type == history.Deleted && !change.Relisted {
			all[change.UID] = true
		}
	}
	return all, nil
}

// judge stops the loads and says what became of them, together with what came of the step's own action.
func (d *during) judge(ctx context.Context, step scenarios.Step, r result) result {
	s := d.run
	r.acted = r.Status == reports.Passed
	ctx, cancel := context.WithTimeout(ctx, s.timeout(step, s.shared.StepTimeout)+servedAgain)
	defer cancel()
	var failed, undecided, evidence []string
	figures := map[string]any{}
	for _, l := range d.loads {
		record := l.running.Stop()
		s.removal.made = append(s.removal.made, l.made...)
		summary, problems := record.String(), l.problems(record)
		back, err := s.loads.readBack(ctx, l)
		if err != nil {
			undecided = append(undecided, err.Error())
		}
		summary += back.String()
		problems = append(problems, back.problems()...)
		if l.late.Load() {
			undecided = append(undecided, "the load was not answered before the step's own action began")
		}
		if len(problems) > 0 {
			failed = append(failed, summary+"\n  "+strings.Join(problems, "\n  "))
		}
		evidence = append(evidence, strings.Join(append([]string{summary}, record.Details()...), "\n  "))
		figures[l.Name] = figuresOf(record, len(back.lost))
	}
	if r.values == nil {
		r.values = map[string]any{}
	}
	r.values["loads"] = figures
	r.Evidence = strings.TrimPrefix(r.Evidence+"\n"+strings.Join(evidence, "\n"), "\n")
	if r.Status == reports.Error {
		return r // what became of the loads was due to that
	}
	switch {
	case len(failed) > 0:
		r.Status = reports.Failed
	case len(undecided) > 0 && r.Status == reports.Passed:
		r.Status = reports.Error
	}
	r.Message = strings.TrimPrefix(strings.Join(append([]string{r.Message}, append(failed, undecided...)...), "\n"), "\n")
	return r
}

// problems are what makes the step fail, but for lost writes.
func (l *stepLoad) problems(record load.Record) []string {
	problems := record.Beyond(l.Allowed)
	want := "accepted"
	if l.Expect != nil {
		want = "rejected as they should be"
	}
	if record.Unexpected > 0 {
		problems = append(problems, fmt.Sprintf("%d of %d requests were not %s", record.Unexpected, record.Sent, want))
	}
	if l.down.Load() {
		problems = append(problems, fmt.Sprintf("no request was answered within %s of the end of the step's own action",
			servedAgain))
	}
	return problems
}

// figuresOf are what outputs can use. Times are in seconds.
func figuresOf(r load.Record, lost int) map[string]any {
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	return map[string]any{
		"sent": int64(r.Sent), "accepted": int64(r.Accepted), "rejected": int64(r.Rejected), "failed": int64(r.Failed),
		"lost":   int64(lost),
		"outage": seconds(r.Longest), "p50": seconds(r.Latency(50)), "p99": seconds(r.Latency(99)),
		"max": seconds(r.Latency(100)),
	}
}
