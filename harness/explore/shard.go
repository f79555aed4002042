package explore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// Planned is the report of an exploration that has not begun yet.
func Planned(o Options) *explorations.Report {
	report := &explorations.Report{
		Head: reports.Head{Format: explorations.Format}, Seed: o.Seed, Kinds: []*explorations.Kind{},
	}
	for _, state := range o.Path {
		report.Path = append(report.Path, &explorations.State{Name: nameOf(state)})
	}
	if o.Shard.Of > 0 {
		report.Shard = &reports.Shard{Number: o.Shard.Number, Of: o.Shard.Of, Plan: o.digest()}
	}
	return report
}

// digest is equal for explorations with the same options, apart from the shard and the number of workers.
func (e Options) digest() string {
	sum := sha256.New()
	gates := slices.Clone(e.Gates)
	for i, gate := range gates {
		gates[i].On, gates[i].Off, gates[i].Flipped = portable(gate.On), portable(gate.Off), portable(gate.Flipped)
	}
	var path []clusters.State
	for _, state := range e.Path {
		path = append(path, portable(state))
	}
	for _, part := range []any{
		path, gates, e.Kinds, e.For, e.Seed, e.Objects, e.Settle, e.Prove, e.Known,
	} {
		text, err := json.Marshal(part)
		if err != nil {
			text = fmt.Appendf(nil, "%#v", part)
		}
		fmt.Fprintf(sum, "%s\x00", text)
	}
	for _, custom := range e.Customs {
		fmt.Fprintf(sum, "%v\x00", custom.Content.Object)
	}
	planning.WriteSystems(sum, e.Definitions, e.Path)
	return hex.EncodeToString(sum.Sum(nil))
}

// portable is a state with the names, kinds and versions of its systems only. Their definitions have paths, which
// differ from machine to machine; WriteSystems writes the rest.
func portable(state clusters.State) clusters.State {
	var systems []clusters.System
	for _, system := range state.Systems {
		systems = append(systems, clusters.System{Name: system.String()})
	}
	state.Systems = systems
	return state
}

// dealing records which of the kinds that were discovered so far belong to the shard.
type dealing struct {
	kinds    map[schema.GroupKind]bool
	families map[string]bool
}

// deal chooses the shard's kinds of a state. All versions of a kind, and kinds that learn from one another, are one
// family and stay in one shard. Kinds of earlier states keep their shard. New ones are distributed by the number of
// their fields.
func (d *dealing) deal(shard planning.Shard, kinds []*fields.Kind) []*fields.Kind {
	if shard.Of == 0 {
		return kinds
	}
	if d.kinds == nil {
		d.kinds, d.families = map[schema.GroupKind]bool{}, map[string]bool{}
	}
	families, lengths := map[schema.GroupKind]string{}, map[string]int{}
	for _, kind := range kinds {
		own := kind.GroupKind()
		families[own] = cmp.Or(growth.Teacher(kind), families[own], own.String())
	}
	for _, kind := range kinds {
		if name := families[kind.GroupKind()]; !d.has(name) {
			lengths[name] += 1 + len(kind.Root.All())
		}
	}
	fresh := slices.Sorted(maps.Keys(lengths))
	mine := planning.Deal(shard, fresh, func(name string) int { return lengths[name] })
	for _, name := range fresh {
		d.families[name] = slices.Contains(mine, name)
	}
	for own, name := range families {
		if _, known := d.kinds[own]; !known {
			d.kinds[own] = d.families[name]
		}
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k *fields.Kind) bool { return !d.kinds[k.GroupKind()] })
}

func (d *dealing) has(family string) bool {
	_, known := d.families[family]
	return known
}

// others are the kinds that other shards explore.
func (d *dealing) others() []schema.GroupKind {
	var all []schema.GroupKind
	for kind, mine := range d.kinds {
		if !mine {
			all = append(all, kind)
		}
	}
	return all
}

// idle reports whether there are kinds, but none of them belongs to the shard.
func (d *dealing) idle() bool { return len(d.kinds) > 0 && len(d.others()) == len(d.kinds) }
