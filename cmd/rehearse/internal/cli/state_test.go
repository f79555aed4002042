package cli

import (
	"encoding/json"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Without a value after the equals sign, a gate or an API gets its default back, which is not the same as an empty
// value.
func TestFlagsOfAChange(t *testing.T) {
	for _, test := range []struct{ name, flag, want string }{
		{"a gate on", "--feature-gates=A=true", `{"featureGates":{"A":true}}`},
		{"a gate's default", "--feature-gates=A=", `{"featureGates":{"A":null}}`},
		{"an API on", "--runtime-config=a/v1=true", `{"runtimeConfig":{"a/v1":"true"}}`},
		{"an API's default", "--runtime-config=a/v1=", `{"runtimeConfig":{"a/v1":null}}`},
		{"no nodes", "--nodes=0", `{"nodes":[{"count":0}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var flags StateFlags
			command := &cobra.Command{}
			flags.AddTo(command)
			golden.Must(t, command.ParseFlags([]string{test.flag}))
			change, err := flags.Change(command)
			golden.Must(t, err)
			got, err := json.Marshal(change)
			golden.Must(t, err)
			if string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestAGateIsTrueOrFalse(t *testing.T) {
	flags := StateFlags{Gates: map[string]string{"A": "yes"}}
	if _, err := flags.Change(&cobra.Command{}); err == nil {
		t.Error("--feature-gates A=yes is taken")
	}
}
