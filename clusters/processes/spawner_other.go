//go:build !linux

package processes

import "errors"

var errUnsupported = errors.New("local control planes need Linux; use --provider kind or --provider existing here")

// Spawner starts processes; it supports only Linux.
type Spawner struct{}

// NewSpawner returns a spawner that starts nothing.
func NewSpawner() *Spawner { return &Spawner{} }

// Close does nothing.
func (*Spawner) Close() {}

// Start returns an error.
func (*Spawner) Start(Spec) (*Process, error) { return nil, errUnsupported }

// NamesHosts returns false.
func (*Spawner) NamesHosts([]string) bool { return false }

func killGroup(int) error { return errUnsupported }

func endGroup(int) error { return errUnsupported }

func freeze(int) error { return errUnsupported }

func awaitStill(int) error { return errUnsupported }

func thaw(int) error { return nil }

func runs(int, string) bool { return false }

func awaitEnd(int, func() bool) (<-chan struct{}, error) { return nil, nil }

// killOwned returns 0: no process was started.
func killOwned(string, ...int) (int, error) { return 0, nil }

// BecomeOnHost returns an error.
func BecomeOnHost(string, []string) error { return errUnsupported }
