package systems

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

func becomesReady(ctx context.Context, sys *system, look func(context.Context) error,
	progress clusters.Progress,
) error {
	look = waiting.Complaining(look, func(waited time.Duration, text string) {
		progress("system %s is not ready after %s: %s", sys.definition.Name, waited.Round(time.Second), text)
	})
	err := waiting.Until(ctx, sys.process, look)
	if err == nil {
		return nil
	}
	return exited(sys, fmt.Errorf("wait until its process is ready: %w", err))
}

// exited makes an error a BrokenError if the system's process has exited, which is the cause.
func exited(sys *system, err error) error {
	if err == nil || alive(sys.process) {
		return err
	}
	return &clusters.BrokenError{
		Component: clusters.SystemComponent(sys.definition.Name),
		Words:     processes.LastLines(sys.process.LogFile, 12), Err: err,
	}
}

var errEarly = errors.New("its initialDelay is not over")

// readiness returns the check whether a process is ready. It fails until the initial delay is over.
func (sys *system) readiness() (func(context.Context) error, error) {
	look, err := sys.check()
	delay, invalid := sys.program.ready.Wait()
	if err := errors.Join(err, invalid); err != nil || delay == 0 {
		return look, err
	}
	first := sys.started.Add(delay)
	return func(ctx context.Context) error {
		if time.Now().Before(first) {
			return errEarly
		}
		return look(ctx)
	}, nil
}

// check returns the check that a system's definition has.
func (sys *system) check() (func(context.Context) error, error) {
	switch ready := sys.program.ready; {
	case ready.HTTPGet != "":
		ca, err := sys.place.Authority()
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{
				RootCAs: pool, MinVersion: tls.VersionTLS12,
				InsecureSkipVerify: sys.place.Service != nil, //nolint:gosec // its certificate is its own; a kubelet trusts any
			},
			DisableKeepAlives: true,
		}}
		return func(ctx context.Context) error { return get(ctx, client, ready.HTTPGet) }, nil
	case ready.TCP != "":
		return func(ctx context.Context) error {
			connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", ready.TCP)
			if err != nil {
				return err
			}
			return connection.Close()
		}, nil
	}
	return func(context.Context) error { return nil }, nil
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 300)) // only additional information
		return fmt.Errorf("GET %s: %s %s", url, response.Status, strings.Join(strings.Fields(string(said)), " "))
	}
	return nil
}
