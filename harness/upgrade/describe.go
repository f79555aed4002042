package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Describe returns the plan of a rehearsal as text.
func Describe(o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "create %s\n", o.Path.States[0])
	objects := len(o.Objects)
	if o.Origin != nil {
		objects = o.Origin.Objects()
		fmt.Fprintf(&b, "  put %d objects of %s into etcd unchanged\n", objects, o.Origin.Name)
	} else {
		kept, withheld, limited := withhold(o.Objects)
		fmt.Fprintf(&b, "  create %d objects: %s\n", len(kept), manifests.Counts(kept))
		checked := slices.DeleteFunc(slices.Clone(kept), func(one *manifests.Object) bool { return !o.Only.Has(one) })
		if len(checked) < len(kept) {
			objects = len(checked)
			fmt.Fprintf(&b, "  check only %s\n", manifests.Counts(checked))
		}
		for _, note := range o.Notes {
			fmt.Fprintf(&b, "  %s\n", note)
		}
		for _, one := range withheld {
			fmt.Fprintf(&b, "  skip %s (%s): %v\n", one.object, one.object.Place(), one.err)
		}
		for _, one := range limited {
			fmt.Fprintf(&b, "  change %s (%s): %v\n", one.object, one.object.Place(), one.err)
		}
	}
	fmt.Fprintf(&b, "  survey, watched for %s\n", o.Settle)
	for i, state := range o.Path.States[1:] {
		if way := o.Path.Ways[i+1]; way == upgrades.Redeploy {
			b.WriteString("delete all objects, and recreate them\n")
		} else {
			fmt.Fprintf(&b, "%s to %s\n", way, state.After(o.Path.States[i]))
		}
		fmt.Fprintf(&b, "  survey, watched for %s\n", o.Settle)
	}
	surveys := len(o.Path.States)
	fmt.Fprintf(&b, "%d states, each surveyed once; about %d dry runs.\n", surveys, surveys*objects*perObject)
	return b.String()
}

// perObject is the approximate number of dry runs for an object at a state.
const perObject = 7
