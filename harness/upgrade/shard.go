package upgrade

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Planned is the report of a rehearsal that has not reached any state yet.
func Planned(o Options) *upgrades.Report {
	report := &upgrades.Report{
		Head:    reports.Head{Format: upgrades.Format, Started: time.Now()},
		Objects: len(o.Objects), Notes: slices.Clone(o.Notes),
		Findings: []*upgrades.Finding{}, Checks: []*upgrades.Check{}, Matrix: []*upgrades.Row{},
	}
	for i, state := range o.Path.States {
		planned := &upgrades.State{Name: name(state, o.Path.States), Way: o.Path.Ways[i]}
		if planned.Way == upgrades.Redeploy {
			planned.Name += " redeployed"
		}
		report.Path = append(report.Path, planned)
	}
	if o.Shard.Of > 0 {
		report.Shard = &reports.Shard{Number: o.Shard.Number, Of: o.Shard.Of, Plan: o.digest()}
	}
	return report
}

// digest is equal for the shards of one rehearsal. Paths of files are not part of it: they may differ between machines.
func (o Options) digest() string {
	sum := sha256.New()
	for i, state := range o.Path.States {
		fmt.Fprintf(sum, "%s\x00%s\x00", o.Path.Ways[i], state)
	}
	fmt.Fprintf(sum, "%s\x00%s\x00%d\x00%v\x00", o.Namespace, o.Settle, o.Sample, o.Only)
	for _, object := range o.Objects {
		text, err := json.Marshal(object.Content.Object)
		if err != nil {
			text = fmt.Appendf(nil, "%#v", object.Content.Object)
		}
		fmt.Fprintf(sum, "%s\x00", text)
	}
	if o.Origin != nil {
		fmt.Fprintf(sum, "%s\x00%v\x00", o.Origin.Digest, o.Origin.Selection)
	}
	planning.WriteSystems(sum, o.Definitions, o.Path.States)
	return hex.EncodeToString(sum.Sum(nil))
}

// share is what is surveyed: the selected objects, and of those the kinds of the shard. All objects are created, as
// they depend on each other.
type share struct {
	only manifests.Selection
	// kinds are those of this shard; nil if there are no shards.
	kinds map[schema.GroupKind]bool
	// others are the uids of the objects that are not surveyed here.
	others map[string]bool
}

// shareOf deals the kinds by the number of their selected objects.
func shareOf(shard planning.Shard, only manifests.Selection, objects []*manifests.Object) *share {
	mine := &share{only: only, others: map[string]bool{}}
	if shard.Of == 0 {
		return mine
	}
	counts := map[schema.GroupKind]int{}
	for _, o := range objects {
		if only.Has(o) {
			counts[o.GVK().GroupKind()]++
		}
	}
	all := make([]schema.GroupKind, 0, len(counts))
	for kind := range counts {
		all = append(all, kind)
	}
	slices.SortFunc(all, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	mine.kinds = map[schema.GroupKind]bool{}
	for _, kind := range planning.Deal(shard, all, func(kind schema.GroupKind) int { return counts[kind] }) {
		mine.kinds[kind] = true
	}
	return mine
}

// has reports whether an object is surveyed.
func (s *share) has(o *manifests.Object) bool {
	return s.only.Has(o) && (s.kinds == nil || s.kinds[o.GVK().GroupKind()])
}

// idle reports whether the shard has no kinds, because there are fewer kinds than shards.
func (s *share) idle() bool { return s.kinds != nil && len(s.kinds) == 0 }

// surveyedElsewhere reports whether the object with a uid is not surveyed here: another shard surveys it, or none.
func (s *share) surveyedElsewhere(uid string) bool { return s.others[uid] }

// take returns the objects to survey, and records the others.
func (s *share) take(all []survey.Created) []survey.Created {
	var mine []survey.Created
	for _, one := range all {
		if s.has(one.Object) {
			mine = append(mine, one)
		} else {
			s.others[one.UID] = true
		}
	}
	return mine
}

// rejected are the objects to report.
func (s *share) rejected(all []rejected) []rejected {
	return slices.DeleteFunc(slices.Clone(all), func(one rejected) bool { return !s.has(one.object) })
}
