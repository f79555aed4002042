package nodeimage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// goTool is the path of the go command.
type goTool string

func findGo() (goTool, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("the go command is not on the PATH: install Go (https://go.dev/dl/)")
	}
	path, err = filepath.Abs(path)
	return goTool(path), err
}

// run runs the go command in a folder. Its temporary files are there, too: if it is killed, it does not remove them.
func (g goTool) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	command := exec.CommandContext(ctx, string(g), args...)
	command.Dir, command.Stdout, command.Stderr = dir, &out, &said
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0", "GOTMPDIR="+dir)
	command.WaitDelay = 5 * time.Second
	if err := processes.RunInGroup(command); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return out.Bytes(), fmt.Errorf("go %s: %w: %s", strings.Join(args[:min(2, len(args))], " "), err,
			strings.Join(lines[max(0, len(lines)-10):], "\n  "))
	}
	return out.Bytes(), nil
}

// module returns the folder of a module's source, and downloads it if necessary.
func (g goTool) module(ctx context.Context, path, version string) (string, error) {
	out, err := g.run(ctx, os.TempDir(), "mod", "download", "-json", path+"@"+version)
	var info struct{ Dir, Error string }
	if decodeErr := json.Unmarshal(out, &info); err == nil && decodeErr != nil {
		err = decodeErr
	}
	if info.Error != "" {
		err = errors.New(info.Error)
	}
	if err != nil {
		return "", fmt.Errorf("get the module %s %s: %w", path, version, err)
	}
	return info.Dir, nil
}
