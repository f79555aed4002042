package main

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// A file that defines a system needs no scenario. Each version is built, and a wrong one does not hide the others.
func TestFetchOfSystem(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOPROXY", "off")
	module := file(t, "name: op\nversion: v1.0.0\nmodule: {path: example.com/op}\n")
	process := file(t, "name: op\nversion: v1.0.0\nprocess: {command: [op]}\n")
	with := file(t, scenario(withSystem))
	for args, test := range map[string]struct {
		code int
		want []string
	}{
		"--system op=" + module: {cli.ExitBroken, []string{"cannot build example.com/op@v1.0.0"}},
		"--system op=module:" + module + " --versions v1.1.0,v1.2.0": {
			cli.ExitBroken, []string{"cannot build example.com/op@v1.1.0", "cannot build example.com/op@v1.2.0"},
		},
		"--system op=" + module + " --versions 1.1.0": {cli.ExitInput, []string{`"1.1.0" is no exact version`}},
		"--system op=" + process:                      {cli.ExitInput, []string{"the file defines a system of kind process"}},
		"--system op=no.yaml":                         {cli.ExitInput, []string{"--system op=no.yaml: "}},
		"--system op":                                 {cli.ExitInput, []string{"name a version, such as 1.35, or a file"}},
		"--system op " + with:                         {cli.ExitInput, []string{"--versions: name the versions of op"}},
		"--system op --versions v1.0.0 " + with:       {cli.ExitInput, []string{"--system op: " + with + ": no scenario has this system"}},
		"--versions v1.0.0 1.35":                      {cli.ExitInput, []string{"--versions: name their system with --system"}},
	} {
		code, _, errs := command(t, append([]string{"fetch"}, strings.Fields(args)...)...)
		for _, want := range test.want {
			if code != test.code || !strings.Contains(errs, want) {
				t.Errorf("fetch %s: exit code %d, no %q in %s", args, code, want, errs)
			}
		}
	}
}
