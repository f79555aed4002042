package main

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

const status = "Name:\tx\nCapBnd:\t000001fffeffffff\n"

func TestBoundingSetWithoutSysResource(t *testing.T) {
	set, err := boundingSet(status)
	golden.Must(t, err)
	if set["CAP_SYS_RESOURCE"] || !set["CAP_SYS_ADMIN"] || !set["CAP_CHECKPOINT_RESTORE"] ||
		len(set) != len(capabilities)-1 {
		t.Errorf("got %v", set)
	}
	if _, err := boundingSet("Name: x\n"); err == nil {
		t.Error("no error without CapBnd")
	}
}

func TestBoundAsksForLessNeverForMore(t *testing.T) {
	set, err := boundingSet(status)
	golden.Must(t, err)
	for _, c := range []struct{ name, in, want string }{
		{
			"container", `{"process":{"capabilities":{"bounding":["CAP_CHOWN","CAP_SYS_RESOURCE"]},"n":12345678901234567890}}`,
			`{"process":{"capabilities":{"bounding":["CAP_CHOWN"]},"n":12345678901234567890}}`,
		},
		{
			"nothing to take", `{"process": {"capabilities": {"bounding": ["CAP_CHOWN"]}}}`,
			`{"process": {"capabilities": {"bounding": ["CAP_CHOWN"]}}}`,
		},
		{"no capabilities", `{"process": {}}`, `{"process": {}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := bound([]byte(c.in), false, set)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	got, err := bound([]byte(`{"capabilities":{"effective":["CAP_SYS_RESOURCE"]}}`), true, set)
	if err != nil || string(got) != `{"capabilities":{"effective":[]}}` {
		t.Errorf("process: got %s, %v", got, err)
	}
}

func TestSpecFile(t *testing.T) {
	for _, c := range []struct {
		args    []string
		file    string
		process bool
	}{
		{[]string{"--root", "/run/x", "create", "--bundle", "/b", "--pid-file", "/p", "id"}, "/b/config.json", false},
		{[]string{"--log", "l", "exec", "--process", "/tmp/p", "--detach", "id"}, "/tmp/p", true},
		{[]string{"create", "--bundle=/b", "id"}, "/b/config.json", false},
		{[]string{"delete", "id"}, "", false},
		{[]string{"state", "create"}, "config.json", false}, // a container named create: harmless, the file does not exist
	} {
		file, process := specFile(c.args)
		if file != c.file || process != c.process {
			t.Errorf("%v: got %q %t", c.args, file, process)
		}
	}
}
