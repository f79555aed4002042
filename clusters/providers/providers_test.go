package providers

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Each definition agrees with its provider: the name, whether clusters last, and the abilities.
func TestDefinitions(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	kubeconfig := "testdata/kubeconfig"
	for _, d := range All() {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		newProvider := d.Flags(flags)
		if flags.Lookup("kubeconfig") != nil {
			golden.Must(t, flags.Set("kubeconfig", kubeconfig))
		}
		p, err := newProvider(clusters.Setup{Progress: t.Logf})
		golden.Must(t, err)
		if p.Name() != d.Name {
			t.Errorf("provider %s calls itself %s", d.Name, p.Name())
		}
		if _, lasting := p.(clusters.LastingProvider); lasting != d.Lasting {
			t.Errorf("%s: lasting %t, but is a LastingProvider: %t", d.Name, d.Lasting, lasting)
		}
		for _, ability := range clusters.Abilities() {
			if ability == clusters.AbilityPodImage && d.Name == "kind" ||
				ability == clusters.AbilityPeerProxy && d.Name == "local" {
				continue // it depends on the engine, or on the machine
			}
			has, err := p.Has(t.Context(), ability, clusters.State{Version: "1.35.4"})
			if err != nil || has != slices.Contains(d.Abilities, ability) {
				t.Errorf("%s, %s: %t, %v, want %t", d.Name, ability, has, err, !has)
			}
		}
	}
}

// Each provider has exactly these abilities: a change of an interface must not change them unnoticed.
func TestWhoHasWhat(t *testing.T) {
	want := map[string]string{
		"local": "snapshots components metrics dns simulatedNodes podImage schedulers oneEtcd breakages controlPlanes mixedVersions componentVersions emulation webhookCalls peerProxy",
		"kind":  "exec components metrics dns podImage breakages controlPlanes mixedVersions",

		"existing": "exec metrics",
	}
	for _, d := range All() {
		var got []string
		for _, ability := range d.Abilities {
			got = append(got, string(ability))
		}
		if text := strings.Join(got, " "); want[d.Name] != "" && text != want[d.Name] {
			t.Errorf("%s: got %q, want %q", d.Name, text, want[d.Name])
		}
	}
}

func TestFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown provider":        {[]string{"--provider", "cloud"}, `--provider "cloud": want local, kind or existing`},
		"a flag of another provider": {[]string{"--node-image", "1.35=x"}, "--node-image: only with --provider kind"},
		"two flags of another provider": {
			[]string{"--context", "a", "--kubeconfig", "b"},
			"--context and --kubeconfig: only with --provider existing",
		},
		"a value that a provider rejects": {
			[]string{"--provider", "existing", "--transition-timeout", "-1s"},
			"want a positive duration",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var flags Flags
			set := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.Add(set, All())
			golden.Must(t, set.Parse(test.args))
			_, err := flags.New(clusters.Setup{})
			golden.Error(t, err, test.want)
		})
	}
}
