package explore

import (
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// kindOf is a kind with the given number of fields, each of the given definition.
func kindOf(group, version, name string, length int, definition string) *fields.Kind {
	kind := &fields.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: group, Version: version, Kind: name}, Root: &fields.Field{},
	}
	for range length {
		kind.Root.Children = append(kind.Root.Children, &fields.Field{Definition: definition})
	}
	return kind
}

// Each kind is in exactly one shard, together with its other versions and the kinds that learn from it. It stays there
// at the next state.
func TestKindsAreDealt(t *testing.T) {
	const pods = "io.k8s.api.core.v1.PodSpec"
	before := []*fields.Kind{
		kindOf("", "v1", "Pod", 20, pods), kindOf("", "v1", "ConfigMap", 3, ""), kindOf("", "v1", "Secret", 3, ""),
		kindOf("apps", "v1", "Deployment", 9, pods), kindOf("networking.k8s.io", "v1", "Ingress", 8, ""),
		kindOf("networking.k8s.io", "v1beta1", "Ingress", 8, ""),
	}
	after := append(slices.Clone(before), kindOf("batch", "v1", "Job", 9, pods), kindOf("", "v1", "Service", 7, ""))
	for of := 1; of <= 7; of++ {
		seen := map[string][]int{}
		for n := 1; n <= of; n++ {
			var d dealing
			shard := planning.Shard{Number: n, Of: of}
			first := d.deal(shard, before)
			second := d.deal(shard, after)
			for _, kind := range first {
				if !slices.Contains(second, kind) {
					t.Errorf("shard %s loses %s", shard, kind.ID())
				}
			}
			for _, kind := range second {
				seen[kind.ID()] = append(seen[kind.ID()], n)
			}
			if idle := len(second) == 0; d.idle() != idle || len(d.others()) == 0 != (of == 1) {
				t.Errorf("shard %s has %d kinds; idle: %t; others: %v", shard, len(second), d.idle(), d.others())
			}
		}
		for _, kind := range after {
			if len(seen[kind.ID()]) != 1 {
				t.Errorf("of %d shards, %v have %s; want exactly one", of, seen[kind.ID()], kind.ID())
			}
		}
		for _, one := range [][2]string{
			{"Pod.v1", "Deployment.v1.apps"},
			{"Pod.v1", "Job.v1.batch"},
			{"Ingress.v1.networking.k8s.io", "Ingress.v1beta1.networking.k8s.io"},
		} {
			if !slices.Equal(seen[one[0]], seen[one[1]]) {
				t.Errorf("of %d shards, %v have %s, but %v have %s", of, seen[one[0]], one[0], seen[one[1]], one[1])
			}
		}
	}
	var whole dealing
	if got := whole.deal(planning.Shard{}, after); len(got) != len(after) || whole.idle() || whole.others() != nil {
		t.Errorf("without shards: %d of %d kinds", len(got), len(after))
	}
}

// All shards of one exploration have the same plan. Shards of another exploration have another plan.
func TestPlanOfAShard(t *testing.T) {
	o := Options{Path: []clusters.State{{Version: "1.34.4"}, {Version: "1.35.4"}}, Seed: 1, Shard: planning.Shard{
		Number: 1, Of: 2,
	}}
	plan := Planned(o).Shard.Plan
	for name, c := range map[string]struct {
		change func(*Options)
		same   bool
	}{
		"another shard":    {func(o *Options) { o.Shard.Number = 2 }, true},
		"other workers":    {func(o *Options) { o.Workers = 3 }, true},
		"another seed":     {func(o *Options) { o.Seed = 2 }, false},
		"other kinds":      {func(o *Options) { o.Kinds = []string{"Pod"} }, false},
		"another version":  {func(o *Options) { o.Path = slices.Clone(o.Path); o.Path[1].Version = "1.35.3" }, false},
		"other gates":      {func(o *Options) { o.Gates = []Gate{{Name: "A"}} }, false},
		"with proofs":      {func(o *Options) { o.Prove = true }, false},
		"fewer may cross":  {func(o *Options) { o.Objects = 7 }, false},
		"a shorter search": {func(o *Options) { o.For = 7 }, false},
		"a definition":     {func(o *Options) { o.Definitions = map[string]string{"op=process:": "a"} }, false},
	} {
		other := o
		c.change(&other)
		if got := Planned(other).Shard.Plan; (got == plan) != c.same {
			t.Errorf("%s: the plan is %s, and was %s; want the same: %t", name, got, plan, c.same)
		}
	}
	o.Shard = planning.Shard{}
	if whole := Planned(o); whole.Shard != nil || whole.Kinds == nil || len(whole.Path) != 2 {
		t.Errorf("without shards: %+v", whole)
	}
}

// Shards may run in different folders. They belong together if they explore the same versions of the same systems.
func TestDigestOfShards(t *testing.T) {
	digest := func(folder, version string) string {
		return Options{Path: []clusters.State{{Version: "1.36.1", Systems: []clusters.System{{
			Name: "op", Version: version, Process: &clusters.SystemProcess{Command: []string{folder + "/manager"}},
		}}}}}.digest()
	}
	if digest("/one", "1") != digest("/two", "1") {
		t.Error("the digest depends on the folder")
	}
	if digest("/one", "1") == digest("/one", "2") {
		t.Error("the digest does not depend on the version of the system")
	}
	named := func(text string) string {
		file := filepath.Join(t.TempDir(), "crd.yaml")
		golden.Write(t, file, text)
		return Options{Path: []clusters.State{{Systems: []clusters.System{{
			Name: "op", Process: &clusters.SystemProcess{CRDs: []string{file}},
		}}}}}.digest()
	}
	if first, other := named("a"), named("a"); first != other || first == named("b") {
		t.Error("the digest must depend on the contents of the files that a system names, and on nothing else of them")
	}
}
