package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fake sets a PATH that has only the script, as docker, and returns the engine. Without a script the PATH is empty.
func fake(t *testing.T, script string) *Engine {
	t.Helper()
	dir := t.TempDir()
	if script != "" {
		golden.Write(t, filepath.Join(dir, "docker"), "#!/bin/sh\n"+script)
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
			"podman of the name docker", "[ $1 != -v ] || echo podman version 5.0.0",
			"docker is another engine (docker -v: podman version 5.0.0)",
		},
		{
			"something else", "echo 'what is this' >&2; exit 1",
			"docker does not answer: docker ps --quiet --last: what is this",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, c.script)
			_, err := Detect(t.Context())
			golden.Error(t, err, c.want)
		})
	}
}

func TestDetectTakesOneThatAnswers(t *testing.T) {
	fake(t, "[ $1 != -v ] || echo Docker version 28.2.2, build 1")
	e, err := Detect(t.Context())
	if err != nil || e.Program != "docker" {
		t.Errorf("got %v, %v", e, err)
	}
	t.Setenv(chooser, "lxc")
	_, err = Detect(t.Context())
	golden.Error(t, err, "KIND_EXPERIMENTAL_PROVIDER=lxc")
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
	var exit *exec.ExitError
	if !errors.As(failed.Err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %v, want exit code 3", failed.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Output(ctx, "ps"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A cluster's engine is used again, even if another one is found first. It must still be in the same place.
func TestUse(t *testing.T) {
	fake(t, `case "$*" in -v) echo Docker version 1 ;; context*) echo unix:///a.sock ;; esac`)
	dir := os.Getenv("PATH")
	podman := `case "$1" in info) echo /storage ;; esac`
	golden.Write(t, filepath.Join(dir, "podman"), "#!/bin/sh\n"+podman)
	for _, c := range []struct{ program, endpoint, want string }{
		{"docker", "unix:///a.sock", ""},
		{"docker", "", ""},
		{
			"docker", "unix:///b.sock",
			"docker was at unix:///b.sock, and is at unix:///a.sock now: set DOCKER_HOST=unix:///b.sock",
		},
		{"podman", "/storage", ""},
		{"podman", "/home/storage", "run rehearse as the user"},
		{"nerdctl", "", "nerdctl is not on the PATH"},
		{"sh", "", `"sh" is not a container engine`},
	} {
		e, err := Use(t.Context(), c.program, c.endpoint)
		if c.want == "" && (err != nil || e.Program != c.program ||
			c.endpoint != "" && e.Endpoint(t.Context()) != c.endpoint) {
			t.Errorf("%s at %q: got %v, %v", c.program, c.endpoint, e, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s at %q: got %v, want %s", c.program, c.endpoint, err, c.want)
		}
	}
}

func TestBuildCommand(t *testing.T) {
	for _, c := range []struct{ info, want string }{
		{"Security Options:\n  seccomp", "sudo rehearse node-images 1.34"},
		{
			"Security Options:\n  rootless\n  cgroupns",
			"for this rootless engine: sudo DOCKER_HOST=unix:///a.sock rehearse node-images 1.34",
		},
	} {
		e := fake(t, "case $1 in info) echo '"+c.info+"' ;; context) echo unix:///a.sock ;; esac")
		if got := e.BuildCommand(t.Context(), "1.34", "x:1"); got != c.want {
			t.Errorf("docker, %s: got %s", c.info, got)
		}
		for info, want := range map[string]string{
			"false": "sudo rehearse node-images 1.34",
			"true": "sudo rehearse node-images 1.34; and because this engine is rootless: sudo podman save x:1 | " +
				"podman load",
		} {
			podman := "#!/bin/sh\necho '  security:'; echo '    rootless: " + info + "'\n"
			golden.Write(t, filepath.Join(os.Getenv("PATH"), "podman"), podman)
			if got := (&Engine{Program: "podman"}).BuildCommand(t.Context(), "1.34", "x:1"); got != want {
				t.Errorf("podman, %s: got %s", info, got)
			}
		}
	}
}
