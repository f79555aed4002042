package upgrade

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// All objects are created. The selected ones are surveyed, each by one shard.
func TestShareOfTheSelectedObjects(t *testing.T) {
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(`
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}
`)}.Load()
	golden.Must(t, err)
	var created []survey.Created
	for _, o := range objects {
		created = append(created, survey.Created{Object: o, UID: o.Content.GetKind()})
	}
	for _, test := range []struct {
		shard planning.Shard
		only  []string
		want  string
	}{
		{planning.Shard{}, nil, "ServiceAccount StatefulSet Deployment"},
		{planning.Shard{}, []string{"StatefulSet", "Deployment"}, "StatefulSet Deployment"},
		{planning.Shard{Number: 1, Of: 2}, []string{"StatefulSet", "Deployment"}, "Deployment"},
		{planning.Shard{Number: 2, Of: 2}, []string{"StatefulSet", "Deployment"}, "StatefulSet"},
		{planning.Shard{Number: 2, Of: 2}, []string{"StatefulSet"}, ""},
	} {
		s := shareOf(test.shard, manifests.Selection{Only: test.only}, objects)
		var got []string
		for _, one := range s.take(created) {
			got = append(got, one.UID)
		}
		if text := strings.Join(got, " "); text != test.want || s.idle() != (test.want == "") {
			t.Errorf("shard %v of %v: %s, idle %t; want %s", test.shard, test.only, text, s.idle(), test.want)
		}
		for _, one := range created {
			if s.surveyedElsewhere(one.UID) == strings.Contains(test.want, one.UID) {
				t.Errorf("shard %v of %v: %s is surveyed elsewhere: %t", test.shard, test.only, one.UID,
					s.surveyedElsewhere(one.UID))
			}
		}
	}
}
