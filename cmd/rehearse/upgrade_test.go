package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestUpgradeRefusesWrongInput(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for _, test := range []struct{ name, args, stdin, want string }{
		{"no files", "--from 1.35 --to 1.36", "", "--from and -f are required"},
		{"no version", "-f -", object, "--from and -f are required"},
		{"a file that is not there", "--from 1.35 --to 1.36 -f missing.yaml", "", "missing.yaml: no such file"},
		{"no YAML", "--from 1.35 --to 1.36 -f -", "a: b: c\n", "stdin:1: not valid YAML"},
		{"a kind that no object has", "--from 1.35 --to 1.36 -f - --only Pod", object, `no object is of kind "Pod"; there are: ConfigMap`},
		{"a gate that is neither on nor off", "--from 1.35 --feature-gates A=x -f -", object, "--feature-gates A=x: want true, false or nothing"},
		{"no version at all", "--from one --to 1.36 -f -", object, `version "one"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), append([]string{"upgrade"}, strings.Fields(test.args)...), strings.NewReader(test.stdin), &out, &errs)
			if code != exitInput || !strings.Contains(errs.String(), test.want) {
				t.Errorf("exit code %d, %s; want %d, %s", code, errs.String(), exitInput, test.want)
			}
		})
	}
}

// Every command of the page can be run: it is planned here, with other manifests.
func TestUpgradeCommandsOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/upgrade.md")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for line := range strings.Lines(string(page)) {
		_, args, ok := strings.Cut(line, "rehearse upgrade --")
		if !ok || !strings.HasPrefix(line, "    ") {
			continue
		}
		args = strings.ReplaceAll("upgrade --"+strings.TrimSpace(args), "manifests/", "../../harness/upgrade/testdata/ordinary") + " --plan"
		var out, errs bytes.Buffer
		stdin := strings.NewReader("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
		if code := run(t.Context(), strings.Fields(args), stdin, &out, &errs); code != exitOK || !strings.Contains(out.String(), "states, each surveyed once") {
			t.Errorf("%s: exit code %d, %s", args, code, errs.String())
		}
		planned++
	}
	if planned < 5 {
		t.Errorf("%d commands on the page", planned)
	}
}
