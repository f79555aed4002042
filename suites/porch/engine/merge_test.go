package engine_test

import (
	"reflect"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

func TestMerge(t *testing.T) {
	type files = map[string]string
	for name, c := range map[string]struct{ old, upstream, local, want files }{
		"nobody changed it":      {files{"a": "1"}, files{"a": "1"}, files{"a": "1"}, files{"a": "1"}},
		"upstream changed it":    {files{"a": "1"}, files{"a": "2"}, files{"a": "1"}, files{"a": "2"}},
		"it was changed locally": {files{"a": "1"}, files{"a": "1"}, files{"a": "2"}, files{"a": "2"}},
		"both changed it alike":  {files{"a": "1"}, files{"a": "2"}, files{"a": "2"}, files{"a": "2"}},
		"both changed it":        {files{"a": "1"}, files{"a": "2"}, files{"a": "3"}, files{"a": "3"}},
		"upstream added it":      {files{}, files{"a": "1"}, files{}, files{"a": "1"}},
		"it was added locally":   {files{}, files{}, files{"a": "1"}, files{"a": "1"}},
		"both added it":          {files{}, files{"a": "1"}, files{"a": "2"}, files{"a": "2"}},
		"upstream removed it":    {files{"a": "1"}, files{}, files{"a": "1"}, files{}},
		"it was removed locally": {files{"a": "1"}, files{"a": "1"}, files{}, files{}},
		"both removed it":        {files{"a": "1"}, files{}, files{}, files{}},
		"removed upstream, changed here": {
			files{"a.yaml": "a: 1\n"},
			files{},
			files{"a.yaml": "a: 2\n"},
			files{"a.yaml": "a: 2\n"},
		},
		"changed upstream, removed here": {files{"a.yaml": "a: 1\n"}, files{"a.yaml": "a: 2\n"}, files{}, files{}},
		"fields of YAML": {
			files{"a.yaml": "image: 1\nreplicas: 1\nold: 1\n"},
			files{"a.yaml": "image: 2\nreplicas: 1\nnew: 1\n"},
			files{"a.yaml": "image: 1\nreplicas: 3\nold: 1\n"},
			files{"a.yaml": "image: 2\nreplicas: 3\nnew: 1\n"},
		},
		"one field of YAML that both changed": {
			files{"a.yaml": "a: 1\n"},
			files{"a.yaml": "a: 2\n"},
			files{"a.yaml": "a: 3\n"},
			files{"a.yaml": "a: 2\n"},
		},
		"containers by their names": {
			files{"d.yaml": "kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      containers:\n      " +
				"- name: a\n        image: a:1\n"},
			files{"d.yaml": "kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      containers:\n      " +
				"- name: a\n        image: a:2\n"},
			files{"d.yaml": "kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      containers:\n      " +
				"- name: a\n        image: a:1\n      - name: b\n        image: b:1\n"},
			files{"d.yaml": "kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      containers:\n      " +
				"- name: a\n        image: a:2\n      - name: b\n        image: b:1\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := engine.Rules{}.Merge(c.old, c.upstream, c.local)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestMergeRejectsWhatIsNoYAML(t *testing.T) {
	if merged, err := (engine.Rules{}).Merge(map[string]string{"a.yaml": "a: 1"}, map[string]string{"a.yaml": "a: ["},
		map[string]string{"a.yaml": "a: 2"}); err == nil {
		t.Errorf("got %q", merged)
	}
}
