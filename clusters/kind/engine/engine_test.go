package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake sets a PATH that has only the script, as docker, and returns the engine. Without a script the PATH is empty.
func fake(t *testing.T, script string) *Engine {
	t.Helper()
	dir := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv(chooser, "")
	return &Engine{Program: "docker"}
}

func TestDetectSaysWhyThereIsNone(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"none", "", "none of docker, nerdctl, podman is on the PATH"},
		{
			"no daemon",
			"echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; " +
				"exit 1", "docker is installed but its daemon does not answer: start it",
		},
		{
			"no permission", "echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1",
			"this user may not use it",
		},
		{
			"something else", "echo 'what is this' >&2; exit 1",
			"docker does not answer: docker ps --quiet --last: what is this",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, c.script)
			_, err := Detect(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestDetectTakesOneThatAnswers(t *testing.T) {
	fake(t, "exit 0")
	e, err := Detect(t.Context())
	if err != nil || e.Program != "docker" {
		t.Errorf("got %v, %v", e, err)
	}
	t.Setenv(chooser, "lxc")
	if _, err := Detect(t.Context()); err == nil || !strings.Contains(err.Error(), "KIND_EXPERIMENTAL_PROVIDER=lxc") {
		t.Errorf("got %v", err)
	}
}

func TestAbsentIsNotCouldNotLook(t *testing.T) {
	e := fake(t, "echo 'Error: No such image: x' >&2; exit 1")
	if _, err := e.ImageID(t.Context(), "x"); !errors.Is(err, ErrNoImage) {
		t.Errorf("got %v", err)
	}
	e = fake(t, "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
	if _, err := e.ImageID(t.Context(), "x"); err == nil || errors.Is(err, ErrNoImage) {
		t.Errorf("got %v", err)
	}
}

func TestTags(t *testing.T) {
	e := fake(t,
		"echo kindest/node:v1.34.0; echo docker.io/kindest/node:v1.35.0; echo kindest/node-x:v1; echo '<none>:<none>'")
	tags, err := e.Tags(t.Context(), "kindest/node")
	if err != nil || strings.Join(tags, " ") != "v1.34.0 v1.35.0" {
		t.Errorf("got %v, %v", tags, err)
	}
}

func TestAnInterruptIsNoFailureOfTheCommand(t *testing.T) {
	e := fake(t, "exit 3")
	_, err := e.Output(t.Context(), "ps")
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	if code, exited := failed.Exited(); code != 3 || !exited {
		t.Errorf("exit code %d, %t", code, exited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Output(ctx, "ps"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
