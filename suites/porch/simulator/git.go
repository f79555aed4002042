package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/suites/porch/gitserver"
)

// gitShutdown is how long requests may take when the server shuts down.
const gitShutdown = time.Second

// gitListener is the simulator's running git server.
type gitListener struct {
	url    string
	server *http.Server
}

// serveGit serves the repositories of a folder. Repository objects contain its address, so it stays the same after a
// restart.
func serveGit(dir, host string) (*gitListener, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("serve git: %w", err)
	}
	kept := filepath.Join(dir, "port")
	port, err := os.ReadFile(kept)
	if errors.Is(err, os.ErrNotExist) {
		port, err = []byte("0"), nil
	}
	if err != nil {
		return nil, fmt.Errorf("serve git: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strings.TrimSpace(string(port))))
	if err != nil {
		return nil, fmt.Errorf("serve git: %w", err)
	}
	_, used, err := net.SplitHostPort(listener.Addr().String())
	if err == nil {
		err = os.WriteFile(kept, []byte(used), 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve git: %w", err), listener.Close())
	}
	server := &http.Server{Handler: gitserver.New(dir), ReadHeaderTimeout: requestTimeout}
	go func() { _ = server.Serve(listener) }() // returns after close
	return &gitListener{url: "http://" + listener.Addr().String(), server: server}, nil
}

func (g *gitListener) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), gitShutdown)
	defer cancel()
	return errors.Join(g.server.Shutdown(ctx), g.server.Close())
}
