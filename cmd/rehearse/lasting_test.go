package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// Clusters of both providers are found by their folders, even if no container engine answers.
func TestLastingClusters(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("PATH", t.TempDir())
	for _, folder := range []string{
		"clusters/both", "clusters/here", "kind/clusters/both", "kind/clusters/real",
		"kind/clusters/left-over",
	} {
		dir := filepath.Join(cache, "rehearse", folder)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(dir)
		if err := folders.Write(dir, folders.Record{
			Name: name, Lasting: name != "left-over",
			State: clusters.State{Version: "1.35.4"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args    string
		code    int
		out     []string
		said    []string
		nothing string
	}{
		{"list", cli.ExitBroken, []string{
			"both  local     1.35.4", "here  local     1.35.4", "both  kind      1.35.4  unknown",
			"real  kind      1.35.4  unknown",
		}, []string{"none of docker, nerdctl, podman is on the PATH"}, "left-over"},
		{"kubeconfig here", cli.ExitOK, []string{"/rehearse/clusters/here/"}, nil, "kind"},
		{"kubeconfig real", cli.ExitOK, []string{"/rehearse/kind/clusters/real/kubeconfig"}, nil, ""},
		{
			"kubeconfig both", cli.ExitInput, nil,
			[]string{`providers local and kind each have a cluster "both"`, "--provider"},
			"",
		},
		{"kubeconfig --provider kind both", cli.ExitOK, []string{"/rehearse/kind/clusters/both/kubeconfig"}, nil, ""},
		{"kubeconfig --provider kind here", cli.ExitInput, nil, []string{`cluster "here": no such cluster`}, ""},
		{"delete left-over", cli.ExitInput, nil, []string{`cluster "left-over": no such cluster; see rehearse cluster list`}, ""},
		{"transition real --feature-gates A=true", cli.ExitInput, nil, []string{"none of docker"}, ""},
		{
			"create --provider existing --version 1.35", cli.ExitInput, nil,
			[]string{`--provider "existing": want local or kind`},
			"",
		},
		{
			"create --node-image 1.35=x --version 1.35", cli.ExitInput, nil,
			[]string{"--node-image: only with --provider kind"},
			"",
		},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, said := command(t, append([]string{"cluster"}, strings.Fields(test.args)...)...)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.out {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
			for _, want := range test.said {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in:\n%s", want, said)
				}
			}
			if test.nothing != "" && strings.Contains(out, test.nothing) {
				t.Errorf("%q in:\n%s", test.nothing, out)
			}
		})
	}
}
