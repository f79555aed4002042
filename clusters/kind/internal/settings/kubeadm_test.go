package settings

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestEditExtraArgs(t *testing.T) {
	before := "false"
	ours := map[string]*string{"gone": nil, "back": &before, "set": nil}
	wanted := map[string]string{"set": "new", "feature-gates": "A=true"}
	for name, c := range map[string]struct{ in, want string }{
		"v1beta3": {
			`{kept: x, gone: "1", back: "true", set: old}`,
			`{"back":"false","feature-gates":"A=true","kept":"x","set":"new"}`,
		},
		"v1beta4": {
			`[{name: kept, value: x}, {name: gone, value: "1"}, {name: back, value: "true"}, {name: set, value: old}]`,
			`[{"name":"kept","value":"x"},{"name":"back","value":"false"},{"name":"feature-gates","value":"A=true"},{"name":"set","value":"new"}]`,
		},
		"none": {`null`, `{"back":"false","feature-gates":"A=true","set":"new"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var args any
			if err := yaml.Unmarshal([]byte(c.in), &args); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(EditExtraArgs(args, ours, wanted))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}
