package simulator

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// taking is a behaviour with liberties.
func taking(t *testing.T, liberties ...string) behaviour {
	t.Helper()
	b, err := newBehaviour("", nil, liberties)
	golden.Must(t, err)
	return b
}

// Each write is of the first or of the second policy. The numbers are those of the revisions.
func TestRevisionNumbers(t *testing.T) {
	for name, test := range map[string]struct {
		liberties []string
		want      []int64
	}{
		"by content": {nil, []int64{1, 1, 2, 1, 2}},
		"numbered":   {[]string{libertyNumbered}, []int64{1, 1, 2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet("my-lws", 1, 1, 0)
			set.Namespace, set.UID = "ns", "1"
			c := stored(t, set)
			r := &revisions{client: c, behaviour: taking(t, test.liberties...)}
			var got []int64
			hashes := map[int64]string{}
			for _, policy := range []string{"none", "Shared", "UniquePerReplica", "Shared", "UniquePerReplica"} {
				set.Spec.NetworkConfig = network(policy)
				made, err := r.ensure(t.Context(), set)
				golden.Must(t, err)
				got, hashes[made.number] = append(got, made.number), made.hash
				if read, err := r.named(t.Context(), "ns", "my-lws", made.hash); err != nil || read.number != made.number {
					t.Errorf("read %+v, %v", read, err)
				}
			}
			if !slices.Equal(got, test.want) || hashes[1] == hashes[2] || hashes[1] == hashes[3] {
				t.Errorf("revisions %v with the hashes %v, want %v", got, hashes, test.want)
			}
		})
	}
}

func TestStartIsARevision(t *testing.T) {
	hash := func(b behaviour) string {
		made, _, err := (&revisions{behaviour: b}).wanted(newSet("my-lws", 1, 1, 0))
		golden.Must(t, err)
		return made.hash
	}
	before := started
	defer func() { started = before }()
	for fault, differ := range map[string]bool{"": false, faultStartIsARevision: true} {
		var faults []string
		if fault != "" {
			faults = append(faults, fault)
		}
		b := with("", faults...)
		first := hash(b)
		started += "a"
		if second := hash(b); (second != first) != differ {
			t.Errorf("%q: revision %s became %s", fault, first, second)
		}
	}
}

// What else liberties change: the selector of a replica's Service, and the default of restartPolicy.
func TestOtherLiberties(t *testing.T) {
	for _, takes := range []bool{false, true} {
		var b behaviour
		if takes {
			b = taking(t, libertyMoreSelectors, libertyRestartNone)
		}
		leader := newPod("my-lws-0", label(api.LabelGroupIndex, "0"), label(api.LabelGroupKey, "key"))
		selector := b.replicaService(newSet("my-lws", 1, 1, 0), leader).Spec.Selector
		if (selector[api.LabelGroupKey] == "key") != takes || selector[api.LabelName] != "my-lws" {
			t.Errorf("%t: the selector is %v", takes, selector)
		}
		crd, err := (&simulation{behaviour: b}).definition()
		golden.Must(t, err)
		restart := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["leaderWorkerTemplate"].
			Properties["restartPolicy"].Default.Raw
		if strings.Contains(string(restart), "None") != takes {
			t.Errorf("%t: the default is %s", takes, restart)
		}
	}
}
